# SPDX-License-Identifier: Apache-2.0

"""A private Ceph: one monitor, one OSD in memory, and RadosGW for S3."""

import contextlib
import json
import uuid

from patchset import child
from patchset import client
from patchset import keystone_conf
from patchset.services import server

_COMMON = {
    # The cluster is private, and its data is worthless.
    'auth_cluster_required': 'none',
    'auth_service_required': 'none',
    'auth_client_required': 'none',
    # The secure mode of RadosGW would require a secret.
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
    # Background work would be measured as well.
    'rgw_enable_gc_threads': 'false',
    'rgw_enable_lc_threads': 'false',
    'rgw_enable_quota_threads': 'false',
    'rgw_run_sync_thread': 'false',
}


class _Daemon(server.Server):
    """Base class of the programs of Ceph."""

    users = ('ceph', 'nobody')

    @property
    def socket(self):
        """Path of the socket for commands to this process."""
        return self.folder / 'asok'

    def _query_daemon(self, *words):
        """Result of a command to the process; None without a response."""
        process = self._ceph('--admin-daemon', self.socket, *words)
        try:
            return json.loads(process.stdout)
        except ValueError:
            return None

    def _ceph(self, *words):
        return child.finish([child.find('ceph'), *words], timeout=60)

    def _configure(self, *options):
        """Write the complete configuration."""
        own = {'admin_socket': self.socket}
        every = (_COMMON, own, *options)
        merged = {name: one[name] for one in every for name in one}
        text = keystone_conf.render({'global': merged})
        return self._write('ceph.conf', text)


class Monitor(_Daemon):
    """The monitor of a cluster."""

    name = 'ceph-mon'

    @property
    def options(self):
        """Options for programs that use this monitor: {option: value}."""
        return {'fsid': self._id, 'mon_host': f'[v2:127.0.0.1:{self.port}/0]'}

    def query(self, *words):
        """Parsed result of a command for the cluster.

        :raises patchset.errors.Error: the monitor's own message
        """
        process = self._ceph(
            '-c', self.folder / 'ceph.conf', '--connect-timeout', '20',
            *words, '--format', 'json',
        )  # fmt: skip
        return json.loads(self._output(process) or 'null')

    def _command(self):
        # The address is part of the data, so it depends on the port.
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

    def _is_ready(self):
        status = self._query_daemon('mon_status')
        return bool(status) and status['state'] == 'leader'


class ObjectStore(_Daemon):
    """The only OSD of a cluster, with the objects in memory.

    :param monitor: a :class:`Monitor`, running
    """

    name = 'ceph-osd'

    def __init__(self, monitor, folder=None):
        super().__init__(folder)
        self._monitor = monitor

    def _prepare(self):
        own = uuid.uuid4()
        number = self._monitor.query('osd', 'new', str(own))['osdid']
        data = self._make_folder('data')
        options = {'osd_data': data, 'osd_uuid': own}
        path = self._configure(options, _OSD, self._monitor.options)
        self._words = [
            child.find('ceph-osd'), '--id', number, '-c', path,
        ]  # fmt: skip
        self._run([*self._words, '--mkfs'])

    def _command(self):
        return [*self._words, '-f']

    def _is_ready(self):
        status = self._query_daemon('status')
        return bool(status) and status['state'] == 'active'


class RadosGW(_Daemon):
    """An S3 server with the users of a Keystone.

    :param monitor: a :class:`Monitor`, running, whose cluster has an OSD
    :param options: {option: value}, in addition to the defaults; includes
        the account of Keystone, ``rgw_keystone_*``
    """

    name = 'radosgw'

    def __init__(self, monitor, options, folder=None):
        super().__init__(folder)
        self._monitor = monitor
        self._options = options

    @property
    def url(self):
        """URL of its S3 API."""
        return f'http://127.0.0.1:{self.port}'

    def _command(self):
        # Otherwise, each response waits 40 ms for an acknowledgement.
        frontend = f'beast endpoint=127.0.0.1:{self.port} tcp_nodelay=1'
        path = self._configure(
            {'rgw_data': self.folder, 'rgw_frontends': frontend},
            _RADOSGW, self._monitor.options, self._options,
        )  # fmt: skip
        return [
            child.find('radosgw'), '-n', f'client.rgw.{self.port}',
            '-c', path, '-f',
        ]  # fmt: skip

    def _is_ready(self):
        answer = client.Client(self.port).ask('GET', '')
        return 'x-amz-request-id' in answer.headers


@contextlib.contextmanager
def cluster(folder=None):
    """A :class:`Monitor` and its OSD, which are stopped at the end."""
    with Monitor(folder) as monitor, ObjectStore(monitor, folder):
        yield monitor
