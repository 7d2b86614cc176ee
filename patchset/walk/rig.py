# SPDX-License-Identifier: Apache-2.0

"""The servers of a walk.

Stock Keystone with two processes, on a database of its own; two nodes of the
patched one that share a database and, unless asked otherwise, a memcached; and
another patched one on that database, which tells what is true: it keeps
nothing in its process. It and stock have a memcached each that is emptied
before each step and after it, so what they answer from was read since. With no
cache at all they would do the same in many times the time. The users and
groups of one domain are in an LDAP directory, where each cloud has a subtree.
"""

import collections
import pathlib
import socket
import tempfile
import threading
import time

from patchset import client
from patchset import keystone_conf
from patchset import progress
from patchset.services import mariadb
from patchset.services import memcached
from patchset.services import server
from patchset.services import slapd
from patchset.test_parts import cloud

PASSWORD = 'of-all'
NODES = ('node 1', 'node 2')
TRUTH = 'without caches'
STOCK = 'stock'
CACHES = ('shared', 'per-node')  # how the nodes may have memcached
_CACHE = 'of the nodes'
_CACHE_OF_SECOND = 'of the second node alone'
_EMPTIED = (TRUTH, STOCK)  # before each step
_BOUND = 1  # seconds that a node without the other's cache may lag
SIDES = ('stock', 'patched')  # names of the databases
_NOTHING_KEPT = {
    'token': {'validation_cache_size': 0},
    'catalog': {'in_process_size': 0},
    'revoke': {'max_events_in_memory': 0},
}
_LAGGING = {
    'cache': {'expiration_time': _BOUND},
    'domain_config': {'cache_time': _BOUND},
    'identity': {'cache_time': _BOUND},
    'receipt': {'cache_time': _BOUND},
    'revoke': {'cache_time': _BOUND, 'sync_interval': _BOUND},
}


class Rig(server.Service):
    """The servers, from ``with`` to its end.

    :param pin: release, a :class:`patchset.pins.Pin`
    :param cache: one of ``CACHES``
    """

    def __init__(self, pin, cache=CACHES[0]):
        super().__init__()
        self._pin = pin
        self._is_shared = cache == CACHES[0]
        self._folder = None
        self._database = None
        self.directory = None  # a patchset.services.slapd.Slapd
        self.counters = None  # of the nodes, a Counters
        self._caches = {}
        self._keystones = {}

    def nodes(self, side):
        """The servers that do what a story tells one side to do."""
        names = NODES if side == 'patched' else (STOCK,)
        return [self.node(name) for name in names]

    def node(self, name):
        """One of the servers, for requests."""
        return client.Client(self._keystones[name].port, name)

    def reset(self):
        """Make all as it was before the story."""
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

    def forget(self, *names):
        """Empty the caches of stock, or of the reference node."""
        for name in names:
            self._caches[name].flush()

    # What steps do.

    def manage(self, side, words):
        """Run a keystone-manage command, as a process of its own.

        :returns: its exit code
        """
        name = NODES[0] if side == 'patched' else STOCK
        with open(self._folder / f'manage-{side}.log', 'ab') as log:
            command = self._keystones[name].manage(
                words, stdout=log, stderr=log
            )
            return command.wait()

    def restart_node(self, number):
        """Restart a node; its processes forget what they know."""
        self._keystones[NODES[number]].restart()

    def empty_cache(self):
        """Make the nodes' memcached forget all, as a restart does."""
        self.forget(*(self._caches.keys() - _EMPTIED))

    def settle(self):
        """Wait until both nodes have to know of what one has changed."""
        if not self._is_shared:
            # Memcached's clock has whole seconds.
            time.sleep(2 * _BOUND + 0.2)

    # Starting.

    def _start(self):
        self._folder = pathlib.Path(
            self._stack.enter_context(
                tempfile.TemporaryDirectory(prefix='ks-walk-')
            )
        )
        self.counters = self._stack.enter_context(Counters())
        with progress.stage('starting MariaDB, slapd and memcached'):
            self._database = self._stack.enter_context(mariadb.MariaDB())
            self.directory = self._stack.enter_context(slapd.Slapd())
            for side in SIDES:
                self.directory.reset(side)
            names = [_CACHE, *_EMPTIED]
            if not self._is_shared:
                names.append(_CACHE_OF_SECOND)
            for name in names:
                cache = memcached.Memcached()
                self._caches[name] = self._stack.enter_context(cache)
        for name in (STOCK, *NODES, TRUTH):
            self._add(name)
        self._prepare()
        self._run()

    def _add(self, name):
        options = keystone_conf.merge(
            {
                'identity': {
                    'domain_specific_drivers_enabled': True,
                    'domain_configurations_from_database': True,
                },
                'fernet_tokens': {'max_active_keys': 100},
                'federation': {'remote_id_attribute': 'HTTP_X_WALK_PROVIDER'},
            },
            _NOTHING_KEPT if name == TRUTH else {},
        )
        if name in (NODES[1], TRUTH):
            options = keystone_conf.merge(
                options, keystone_conf.keys(self._state(NODES[0]))
            )
        if name in NODES:
            options['cache_counters'] = self.counters.options
        if not self._is_shared:
            options = keystone_conf.merge(options, _LAGGING)
        own = {NODES[1]: _CACHE_OF_SECOND, TRUTH: TRUTH, STOCK: STOCK}
        cache = self._caches.get(own.get(name)) or self._caches[_CACHE]
        stock = name == STOCK
        keystone = cloud.keystone(
            self._state(name),
            pin=self._pin, stock=stock, lock='test',
            database=self._database.url('stock' if stock else 'patched'),
            cache=cache.url, password=PASSWORD, options=options,
            processes=2 if stock else 1, threads=1 if stock else 2,
        )  # fmt: skip
        self._keystones[name] = keystone
        self._stack.callback(keystone.stop)

    def _prepare(self):
        """Prepare the first one; the others get what was made for it."""
        first = self._keystones[STOCK]
        first.prepare()
        kept = self._folder / 'empty.sql'
        self._database.dump('stock', kept)
        self._database.load('patched', kept)
        for name in (*NODES, TRUTH):
            self._keystones[name].prepare_like(first)

    def _state(self, name):
        """Path of the state folder of a server."""
        return self._folder / name.replace(' ', '-')

    def _run(self):
        with progress.stage('starting Keystone'):
            for keystone in self._keystones.values():
                keystone.launch()
            for keystone in self._keystones.values():
                keystone.get_ready()


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
