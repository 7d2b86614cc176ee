# SPDX-License-Identifier: Apache-2.0

"""The servers of a walk.

The reference is a third patched node. It and stock each have a memcached that
is flushed before and after each step, so that they only use current values;
without any cache, they would be many times slower.
"""

import collections
import os
import socket
import threading
import time

from patchset import client
from patchset import keystone_conf
from patchset import paths
from patchset import preparation
from patchset import progress
from patchset.services import mariadb
from patchset.services import memcached
from patchset.services import server
from patchset.services import slapd
from patchset.test_parts import cloud

PASSWORD = 'of-all'
NODES = ('node 1', 'node 2')
REFERENCE = 'without caches'
STOCK = 'stock'
CACHES = ('shared', 'per-node')  # arrangements of memcached
PROVIDERS = ('fernet', 'jws')  # of tokens
_FLUSHED = (REFERENCE, STOCK)  # before each step
_BOUND = 1  # seconds for which a node without a shared cache may be outdated
SIDES = ('stock', 'patched')  # names of the databases
# Upstream reserves it for the admin.
_POLICY = '"identity:authorize_request_token": ""\n'
_OPTIONS = {
    'identity': {
        'domain_specific_drivers_enabled': True,
        'domain_configurations_from_database': True,
    },
    'fernet_tokens': {'max_active_keys': 100},
    'federation': {'remote_id_attribute': 'HTTP_X_WALK_PROVIDER'},
}
_NO_PROCESS_CACHES = {
    'token': {'validation_cache_size': 0},
    'catalog': {'in_process_size': 0},
    'revoke': {'max_events_in_memory': 0},
}
_SHORT_CACHE_TIMES = {
    'cache': {'expiration_time': _BOUND},
    'domain_config': {'cache_time': _BOUND},
    'identity': {'cache_time': _BOUND},
    'receipt': {'cache_time': _BOUND},
    'revoke': {'cache_time': _BOUND, 'sync_interval': _BOUND},
}


class Testbed(server.Service):
    """The servers; a context manager.

    :param pin: release, a :class:`patchset.pins.Pin`
    :param cache: one of ``CACHES``
    :param provider: one of ``PROVIDERS``
    """

    def __init__(self, pin, cache=CACHES[0], provider=PROVIDERS[0]):
        super().__init__()
        self.pin = pin
        self._is_shared = cache == CACHES[0]
        self._provider = provider
        self._folder = None
        self._database = None
        self.directory = None  # a patchset.services.slapd.Slapd
        self.counters = None  # of the nodes, a Counters
        self._caches = {}
        self._keystones = {}

    def nodes(self, side):
        """The nodes of a side, which perform the steps."""
        names = NODES if side == 'patched' else (STOCK,)
        return [self.node(name) for name in names]

    def node(self, name):
        """A client of one of the servers."""
        return client.Client(self._keystones[name].port, name)

    def reset(self):
        """Restore the state before the walk."""
        for keystone in self._keystones.values():
            keystone.end()
        for side in SIDES:
            self._database.query(f'DROP DATABASE `{side}`')
            self._database.url(side)
            self._database.load(side, self._folder / 'empty.sql')
            self.directory.reset(side)
        for cache in self._caches.values():
            cache.flush()
        self.counters.counts.clear()
        self._run()

    def flush(self, *names):
        """Flush the caches of stock, or of the reference node."""
        for name in names:
            self._caches[name].flush()

    # Operations of the steps.

    def manage(self, side, words, **options):
        """Run a keystone-manage command.

        :returns: its exit code
        """
        with (
            open(self._folder / f'manage-{side}.log', 'ab') as log,
            self._first(side).manage(
                words, stdout=log, stderr=log, **options
            ) as command,
        ):
            return command.wait()

    def rotate_keys(self, side):
        """Rotate the keys of tokens and receipts; the exit code."""
        owner = preparation.owner()
        code = self.manage(side, ['fernet_rotate', *owner])
        if self._provider != 'jws' or code:
            return code
        options = self._first(side).options['jwt_tokens']
        with paths.temporary(parent=self._folder) as new:
            code = self.manage(side, ['create_jws_keypair', *owner], cwd=new)
            # The public key first, since tokens are signed from then on.
            for kind, name in (
                ('public', f'{time.time_ns()}.pem'),
                ('private', 'private.pem'),
            ):
                folder = options[f'jws_{kind}_key_repository']
                os.replace(new / f'{kind}.pem', folder / name)
        return code

    def _first(self, side):
        return self._keystones[NODES[0] if side == 'patched' else STOCK]

    def restart(self, name):
        """Restart a server, which clears the caches of its processes."""
        self._keystones[name].restart()

    def flush_node_caches(self):
        """Flush the memcached of the nodes, as a restart does."""
        self.flush(*(self._caches.keys() - _FLUSHED))

    def wait_for_nodes(self):
        """Wait until both nodes must have noticed changes by one of them."""
        if not self._is_shared:
            # The clock of memcached has whole seconds.
            time.sleep(2 * _BOUND + 0.2)

    # Starting.

    def _start(self):
        self._folder = self._stack.enter_context(paths.temporary('ks-walk-'))
        (self._folder / 'policy.yaml').write_text(_POLICY)
        self.counters = self._stack.enter_context(Counters())
        with progress.stage('starting MariaDB, slapd and memcached'):
            self._database = self._stack.enter_context(mariadb.MariaDB())
            self.directory = self._stack.enter_context(slapd.Slapd())
            for side in SIDES:
                self.directory.reset(side)
            own = NODES[:1] if self._is_shared else NODES
            for name in (*own, *_FLUSHED):
                cache = memcached.Memcached()
                self._caches[name] = self._stack.enter_context(cache)
        for name in (STOCK, *NODES, REFERENCE):
            self._add(name)
        self._prepare()
        self._run()

    def _add(self, name):
        stock = name == STOCK
        shared_keys = keystone_conf.keys(self._state(NODES[0]))
        options = keystone_conf.merge(
            _OPTIONS,
            {
                'oslo_policy': {'policy_file': self._folder / 'policy.yaml'},
                'token': {'provider': self._provider},
            },
            None if stock else shared_keys,
            _NO_PROCESS_CACHES if name == REFERENCE else None,
            {'cache_counters': self.counters.options if name in NODES else {}},
            None if self._is_shared else _SHORT_CACHE_TIMES,
        )
        # By default, the second node uses that of the first.
        cache = self._caches.get(name) or self._caches[NODES[0]]
        keystone = cloud.keystone(
            self._state(name),
            pin=self.pin, stock=stock, lock='test',
            database=self._database.url('stock' if stock else 'patched'),
            cache=cache.url, password=PASSWORD, options=options,
            processes=2 if stock else 1, threads=1 if stock else 2,
        )  # fmt: skip
        self._keystones[name] = keystone
        self._stack.callback(keystone.stop)

    def _prepare(self):
        """Prepare the first server, and the others with the same data."""
        first = self._keystones[STOCK]
        first.prepare()
        dump = self._folder / 'empty.sql'
        self._database.dump('stock', dump)
        self._database.load('patched', dump)
        for name in (*NODES, REFERENCE):
            self._keystones[name].prepare_like(first)

    def _state(self, name):
        """Path of the state folder of a server."""
        return self._folder / name.replace(' ', '-')

    def _run(self):
        with progress.stage('starting Keystone'):
            cloud.start_all(self._keystones.values())


class Counters:
    """A statsd server that adds up the counters it receives.

    :ivar counts: {last part of the name: sum}
    """

    def __init__(self):
        self.counts = collections.Counter()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(('127.0.0.1', 0))
        self._thread = threading.Thread(target=self._listen)

    @property
    def options(self):
        """Options of a Keystone that sends its counters: {name: value}."""
        host, port = self._socket.getsockname()
        return {'statsd_host': host, 'statsd_port': port}

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._socket.sendto(b'', self._socket.getsockname())
        self._thread.join()
        self._socket.close()

    def _listen(self):
        while packet := self._socket.recv(65536):
            for line in packet.decode().splitlines():
                name, _, value = line.partition(':')
                number, _, kind = value.partition('|')
                if kind == 'c':
                    self.counts[name.rpartition('.')[2]] += int(number)
