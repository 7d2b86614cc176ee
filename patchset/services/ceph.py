# SPDX-License-Identifier: Apache-2.0

"""A private Ceph: one monitor, one OSD in memory, and RadosGW for S3."""

import contextlib
import http.client
import json
import shutil
import uuid

from patchset import child
from patchset.services import server

_COMMON = {
    # The cluster is private, and its data is worthless.
    'auth_cluster_required': 'none',
    'auth_service_required': 'none',
    'auth_client_required': 'none',
    # RadosGW wants it secure, for which there has to be a secret.
    'ms_mon_client_mode': 'crc',
    'log_to_stderr': 'true',
    'log_to_file': 'false',
    'mon_cluster_log_to_file': 'false',
    'public_addr': '127.0.0.1',
    'cluster_addr': '127.0.0.1',
    'ms_bind_msgr1': 'false',
    # One copy of each object, on the only OSD.
    'osd_pool_default_size': 1,
    'osd_pool_default_min_size': 1,
    'osd_pool_default_pg_num': 4,
    'osd_pool_default_pg_autoscale_mode': 'off',
    'osd_crush_chooseleaf_type': 0,
    'mon_allow_pool_size_one': 'true',
}
_OSD = {'osd_objectstore': 'memstore', 'memstore_device_bytes': 1 << 30}
_RADOSGW = {
    'rgw_s3_auth_use_keystone': 'true',
    'rgw_keystone_api_version': 3,
    'rgw_keystone_accepted_roles': 'admin, member',
    # What it does by itself would be measured as well.
    'rgw_enable_gc_threads': 'false',
    'rgw_enable_lc_threads': 'false',
    'rgw_enable_quota_threads': 'false',
    'rgw_run_sync_thread': 'false',
}


class _Daemon(server.Server):
    """What the programs of Ceph have in common."""

    users = ('ceph', 'nobody')

    @property
    def socket(self):
        """Path of the socket that takes commands for this very process."""
        return self.folder / 'asok'

    def _ask(self, *words):
        """What the process says of itself; None while it does not answer."""
        done = self._ceph('--admin-daemon', self.socket, *words)
        try:
            return json.loads(done.stdout)
        except ValueError:
            return None

    def _ceph(self, *words):
        return self._talk([child.find('ceph'), *words], timeout=60)

    def _configure(self, *options):
        """Write the configuration, which is read from nowhere else."""
        own = {'admin_socket': self.socket}
        text = configuration(_COMMON, own, *options)
        return self._write('ceph.conf', text)


class Monitor(_Daemon):
    """The monitor, which knows where everything is."""

    name = 'ceph-mon'

    @property
    def options(self):
        """{option: value} of those that talk to this monitor."""
        return {'fsid': self._id, 'mon_host': f'[v2:127.0.0.1:{self.port}/0]'}

    def query(self, *words):
        """What a command for the cluster gives, read from its JSON.

        :raises patchset.errors.Error: the monitor's own message
        """
        done = self._ceph(
            '-c', self.folder / 'ceph.conf', '--connect-timeout', '20',
            *words, '--format', 'json',
        )  # fmt: skip
        return json.loads(self._checked(done) or 'null')

    def _command(self):
        # The address is part of the data, so each port has data of its own.
        self._id = uuid.uuid4()
        own = {
            'public_addrv': self.options['mon_host'],
            'mon_data': f'{self.folder}/data-{self.port}',
        }
        words = [
            child.find('ceph-mon'), '--id', 'a',
            '-c', self._configure(own, self.options),
        ]  # fmt: skip
        self._run([*words, '--mkfs'])
        return [*words, '-f']

    def _answers(self):
        status = self._ask('mon_status')
        return bool(status) and status['state'] == 'leader'


class ObjectStore(_Daemon):
    """The only OSD of a cluster, which keeps the objects in its memory.

    :param monitor: a :class:`Monitor`, running
    """

    name = 'ceph-osd'

    def __init__(self, monitor, folder=None):
        super().__init__(folder)
        self._monitor = monitor

    def _prepare(self):
        own = uuid.uuid4()
        number = self._monitor.query('osd', 'new', str(own))['osdid']
        data = self.folder / 'data'
        data.mkdir(mode=0o700)
        if self.user:
            shutil.chown(data, self.user)
        options = {'osd_data': data, 'osd_uuid': own}
        path = self._configure(options, _OSD, self._monitor.options)
        self._words = [
            child.find('ceph-osd'), '--id', number, '-c', path,
        ]  # fmt: skip
        self._run([*self._words, '--mkfs'])

    def _command(self):
        return [*self._words, '-f']

    def _answers(self):
        status = self._ask('status')
        return bool(status) and status['state'] == 'active'


class RadosGW(_Daemon):
    """A server of S3 whose users are those of a Keystone.

    :param monitor: a :class:`Monitor`, running, whose cluster has an OSD
    :param options: {option: value}, on top of the defaults; those that start
        with ``rgw_keystone_`` say where Keystone is
    """

    name = 'radosgw'

    def __init__(self, monitor, options, folder=None):
        super().__init__(folder)
        self._monitor = monitor
        self._options = options

    @property
    def url(self):
        """Address of its API of S3."""
        return f'http://127.0.0.1:{self.port}'

    def _command(self):
        # Else each answer waits 40 ms for the client's acknowledgement.
        frontend = f'beast endpoint=127.0.0.1:{self.port} tcp_nodelay=1'
        path = self._configure(
            {'rgw_data': self.folder, 'rgw_frontends': frontend},
            _RADOSGW, self._monitor.options, self._options,
        )  # fmt: skip
        return [
            child.find('radosgw'), '-n', f'client.rgw.{self.port}',
            '-c', path, '-f',
        ]  # fmt: skip

    def _answers(self):
        connection = http.client.HTTPConnection(
            '127.0.0.1', self.port, timeout=self.patience
        )
        try:
            connection.request('GET', '/')
            answer = connection.getresponse()
            return 'x-amz-request-id' in answer.headers
        except OSError:
            return False
        finally:
            connection.close()


def configuration(*options):
    """Text of a ceph.conf.

    :param options: dicts of {option: value}; later ones win
    """
    merged = {name: one[name] for one in options for name in one}
    lines = [f'{name} = {value}' for name, value in merged.items()]
    return '\n'.join(['[global]', *lines]) + '\n'


@contextlib.contextmanager
def cluster(folder=None):
    """A :class:`Monitor` and its OSD; both are gone at the end."""
    with Monitor(folder) as monitor, ObjectStore(monitor, folder):
        yield monitor
