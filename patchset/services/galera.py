# SPDX-License-Identifier: Apache-2.0

"""A private Galera cluster of MariaDB servers.

With a delay, each node but the first has its own network namespace. In it, the
addresses of the other nodes are those of delay proxies, which are connected by
Unix sockets. The first node stays in the namespace of this program, where
Keystone connects to it without a delay.
"""

import contextlib
import os
import pathlib
import secrets
import signal
import subprocess

from bench import delay_proxy
from patchset import child
from patchset import errors
from patchset.services import mariadb
from patchset.services import server

TIMEOUT = 60  # seconds for a node to leave the cluster, or to join it again
_PORTS = ('group', 'increments', 'files')  # that other nodes connect to
_FOLDERS = ('/usr/lib/galera', '/usr/lib64/galera-4', '/usr/lib64/galera')


class Node(mariadb.MariaDB):
    """One node of a :class:`Cluster`.

    :param cluster: the :class:`Cluster`
    :param number: its number in the cluster, from 0
    """

    name = 'galera'
    # A node that ends in order saves its position.
    stop_signal = signal.SIGTERM

    def __init__(self, cluster, number):
        super().__init__(cluster.folder)
        self._cluster = cluster
        self._number = number
        self._password = cluster.password
        #: ``HOST:PORT`` for connections of the other nodes, once started
        self.group_address = None
        #: {name: TCP port} that proxies connect to; empty uses free ports
        self.ports = {}

    @contextlib.contextmanager
    def replication_paused(self):
        """Do not apply commits of other nodes, but still serve reads.

        Writes on this node wait as well. The other nodes are not affected.
        """
        # The lock requires an open session.
        with self._session() as execute:
            execute('SET GLOBAL wsrep_desync = ON')
            execute('FLUSH TABLES WITH READ LOCK')
            try:
                yield
            finally:
                execute('UNLOCK TABLES')
                execute('SET GLOBAL wsrep_desync = OFF')
        self._wait_for_status('wsrep_local_state_comment', 'Synced')

    @contextlib.contextmanager
    def isolated(self):
        """Isolate the node: without a majority, it is non-Primary."""
        option = 'SET GLOBAL wsrep_provider_options = "gmcast.isolate = {}"'
        self.query(option.format(1))
        try:
            self._wait_for_status('wsrep_cluster_status', 'non-Primary')
            yield
        finally:
            self.query(option.format(0))
            self._wait_for_status('wsrep_local_state_comment', 'Synced')

    @contextlib.contextmanager
    def paused(self):
        """Pause the node, and wait until it is synchronized again."""
        with super().paused():
            yield
        self._wait_for_status('wsrep_local_state_comment', 'Synced')

    @contextlib.contextmanager
    def _session(self):
        """A client; yields a function that executes a statement."""
        with subprocess.Popen(
            [str(one) for one in [*self._client(), '--unbuffered', '--force']],
            env={'MYSQL_PWD': self._password},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as client:

            def execute(statement):
                client.stdin.write(f"{statement};\nSELECT 'done';\n")
                client.stdin.flush()
                output = client.stdout.readline().strip()
                if output != 'done':
                    raise errors.Error(f'galera: {statement}: {output}')

            yield execute

    def _wait_for_status(self, name, value):
        child.wait_until(
            lambda: self._has_status(name, value) or not self.is_running,
            TIMEOUT,
            lambda: self._error(f'does not reach {name} {value}'),
        )
        if not self.is_running:
            raise self._error('ended')

    def _has_status(self, name, value):
        process = self._execute(f"SHOW STATUS LIKE '{name}'")
        return process.stdout.split() == [name, value]

    def _make_data(self):
        if self._cluster.addresses(self):
            # A joining node receives all files from another one.
            self._make_folder('data')
        else:
            super()._make_data()

    def _command(self):
        addresses = ','.join(self._cluster.addresses(self))
        port = self._port('group')
        self.group_address = f'127.0.0.1:{port}'
        provider = {
            'base_host': '127.0.0.1',
            'base_port': port,
            'gmcast.listen_addr': f'tcp://{self.group_address}',
            'ist.recv_addr': f'127.0.0.1:{self._port("increments")}',
            'gcache.size': '16M',
            # The default of 30 seconds is too short for a busy machine.
            'repl.causal_read_timeout': 'PT2M',
            # The first node has the majority, even without the others.
            'pc.weight': 1 if self._number else self._cluster.size,
        }
        options = ';'.join(f'{name}={provider[name]}' for name in provider)
        return [
            *super()._command(),
            '--binlog-format=ROW', '--innodb-autoinc-lock-mode=2',
            '--wsrep-on=ON', f'--wsrep-provider={_provider()}',
            f'--wsrep-provider-options={options}',
            '--wsrep-cluster-name=keystone',
            f'--wsrep-cluster-address=gcomm://{addresses}',
            f'--wsrep-node-name=node-{self._number}',
            '--wsrep-node-address=127.0.0.1', '--wsrep-sst-method=rsync',
            f'--wsrep-sst-receive-address=127.0.0.1:{self._port("files")}',
            '--wsrep-slave-threads=4', *self._cluster.options,
        ]  # fmt: skip

    def _port(self, name):
        """A TCP port for other nodes: one of :data:`_PORTS`."""
        return self.ports.get(name) or server.free_port()

    def _account(self, program):
        return [*self.prefix, *super()._account(program)]

    def _is_ready(self):
        return self._has_status('wsrep_local_state_comment', 'Synced')


class Cluster(server.Service):
    """Several nodes, each a process that only listens on loopback.

    The first node continues without the others; without it, they are
    non-Primary.

    :param size: number of nodes
    :param folder: parent of the nodes' temporary folders
    :param options: further arguments of each server's command
    :param share: function of the numbers of two nodes: which share of the
        delay is between them; None has no delay. With it, root has to start
        the cluster, and the folder must not be None
    """

    def __init__(self, size=2, folder=None, options=(), share=None):
        super().__init__()
        self.size = size
        self.folder = folder
        self.options = options
        self.password = secrets.token_hex(16)
        #: a :class:`Node` each
        self.nodes = [Node(self, number) for number in range(size)]
        self._share = share
        self._proxies = []

    def _start(self):
        if self._share:
            self._start_proxies()
        for node in self.nodes:
            self._stack.enter_context(node)

    def _start_proxies(self):
        """Start the proxies in the namespace of each node."""
        if os.geteuid() != 0:
            raise errors.Error(
                'a Galera cluster with a delay requires root, for the network '
                'namespaces of its nodes'
            )
        free = server.free_ports(self.size * len(_PORTS))
        for node in self.nodes:
            node.ports = {name: free.pop() for name in _PORTS}
        for number, node in enumerate(self.nodes):
            prefix = []
            if number:
                up = 'ip link set lo up && exec "$@"'
                prefix = ['unshare', '--net', 'sh', '-c', up, 'sh']
            proxies = self._stack.enter_context(
                delay_proxy.DelayProxies([*self._connections(number)], prefix)
            )
            self._proxies.append(proxies)
            if number:
                node.prefix = ['nsenter', f'--net=/proc/{proxies.pid}/ns/net']

    def _connections(self, number):
        """Those of the proxies of a node, see :mod:`bench.delay_proxy`."""
        for other, node in enumerate(self.nodes):
            for port in node.ports.values():
                # The namespace of the node with the port listens there.
                path = str(self.folder / f'delay-proxy-{port}')
                if other == number:
                    yield [path, port, 0]
                else:
                    yield [port, path, self._share(number, other)]

    def set_delay(self, milliseconds):
        """Set the round trip time between the nodes, if they have a share."""
        for proxies in self._proxies:
            proxies.set_delay(milliseconds)

    @property
    def port(self):
        """TCP port of the first node."""
        return self.nodes[0].port

    def query(self, statement, database=None):
        """Result of an SQL statement on the first node."""
        return self.nodes[0].query(statement, database)

    def url(self, database, port=None):
        """SQLAlchemy URL of a database on the first node."""
        return self.nodes[0].url(database, port)

    def addresses(self, excluded):
        """Addresses of the running nodes except one: a list of strings."""
        return [
            node.group_address
            for node in self.nodes
            if node is not excluded and node.is_running
        ]


def _provider():
    for folder in _FOLDERS:
        path = pathlib.Path(folder, 'libgalera_smm.so')
        if path.exists():
            return path
    raise errors.NotInstalled('libgalera_smm.so is not installed')
