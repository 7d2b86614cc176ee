# SPDX-License-Identifier: Apache-2.0

"""A private Galera cluster of MariaDB servers."""

import contextlib
import pathlib
import secrets
import shutil
import signal
import subprocess
import time

from patchset import errors
from patchset.services import mariadb
from patchset.services import server

PATIENCE = 60  # seconds for a node to leave the cluster, or to come back
_FOLDERS = ('/usr/lib/galera', '/usr/lib64/galera-4', '/usr/lib64/galera')


class Node(mariadb.MariaDB):
    """One node of a :class:`Cluster`.

    :param cluster: the :class:`Cluster`
    :param number: its place in there, from 0
    """

    name = 'galera'
    # A node that ends in order knows later how far it had come.
    stop_signal = signal.SIGTERM

    def __init__(self, cluster, number):
        super().__init__(cluster.folder)
        self._cluster = cluster
        self._number = number
        self._password = cluster.password
        self._group_port = None

    @property
    def group_address(self):
        """``HOST:PORT`` by which the other nodes reach this one."""
        return f'127.0.0.1:{self._group_port}'

    @contextlib.contextmanager
    def held_back(self):
        """Apply nothing that other nodes commit, and still answer reads.

        Writes on this node wait as well. The rest of the cluster goes on.
        """
        # The lock lasts as long as the session.
        with self._session() as say:
            say('SET GLOBAL wsrep_desync = ON')
            say('FLUSH TABLES WITH READ LOCK')
            try:
                yield
            finally:
                say('UNLOCK TABLES')
                say('SET GLOBAL wsrep_desync = OFF')
        self._wait_for('wsrep_local_state_comment', 'Synced')

    @contextlib.contextmanager
    def cut_off(self):
        """Reach no other node: without the majority it is non-Primary."""
        option = 'SET GLOBAL wsrep_provider_options = "gmcast.isolate = {}"'
        self.query(option.format(1))
        try:
            self._wait_for('wsrep_cluster_status', 'non-Primary')
            yield
        finally:
            self.query(option.format(0))
            self._wait_for('wsrep_local_state_comment', 'Synced')

    @contextlib.contextmanager
    def paused(self):
        """Answer nobody, and be in step again afterwards."""
        with super().paused():
            yield
        self._wait_for('wsrep_local_state_comment', 'Synced')

    @contextlib.contextmanager
    def _session(self):
        """A client; yields a function that waits for one statement's end."""
        with subprocess.Popen(
            [str(one) for one in [*self._client(), '--unbuffered', '--force']],
            env={'MYSQL_PWD': self._password},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as client:

            def say(statement):
                client.stdin.write(f"{statement};\nSELECT 'done';\n")
                client.stdin.flush()
                answer = client.stdout.readline().strip()
                if answer != 'done':
                    raise errors.Error(f'galera: {statement}: {answer}')

            yield say

    def _wait_for(self, name, value):
        deadline = time.monotonic() + PATIENCE
        while not self._has(name, value):
            if not self.is_running or time.monotonic() > deadline:
                raise self._error(f'does not get {name} {value}')
            time.sleep(0.05)

    def _has(self, name, value):
        done = self._ask(f"SHOW STATUS LIKE '{name}'")
        return done.stdout.split() == [name, value]

    def _make_data(self):
        if self._cluster.addresses(self):
            # A node that joins is given all files by another.
            data = self.folder / 'data'
            data.mkdir(mode=0o700)
            if self.user:
                shutil.chown(data, self.user)
        else:
            super()._make_data()

    def _command(self):
        addresses = ','.join(self._cluster.addresses(self))
        self._group_port = self._port('group')
        provider = {
            'base_host': '127.0.0.1',
            'base_port': self._group_port,
            'gmcast.listen_addr': f'tcp://{self.group_address}',
            'ist.recv_addr': f'127.0.0.1:{self._port("increments")}',
            'gcache.size': '16M',
            # The usual 30 seconds may pass on a busy machine.
            'repl.causal_read_timeout': 'PT2M',
            # The first node has the majority, with or without the others.
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
        """A TCP port for what other nodes reach: group, increments, files."""
        return server.free_port()

    def _answers(self):
        return self._has('wsrep_local_state_comment', 'Synced')


class Cluster(server.Service):
    """Several nodes, each a process that listens on loopback alone.

    The first node goes on alone where others are cut off or stopped; they
    are non-Primary without it.

    :param size: number of nodes
    :param folder: where to make the nodes' temporary folders
    :param options: further words of each server's command
    """

    def __init__(self, size=2, folder=None, options=()):
        super().__init__()
        self.size = size
        self.folder = folder
        self.options = options
        self.password = secrets.token_hex(16)
        #: a :class:`Node` each
        self.nodes = [Node(self, number) for number in range(size)]

    def _start(self):
        for node in self.nodes:
            self._stack.enter_context(node)

    @property
    def port(self):
        """TCP port of the first node."""
        return self.nodes[0].port

    def query(self, statement, database=None):
        """Result of one SQL statement on the first node."""
        return self.nodes[0].query(statement, database)

    def url(self, database):
        """SQLAlchemy URL of a database on the first node; made if missing."""
        return self.nodes[0].url(database)

    def addresses(self, but):
        """Where the running nodes are, one left out: a list of strings."""
        return [
            node.group_address
            for node in self.nodes
            if node is not but and node.is_running
        ]


def _provider():
    for folder in _FOLDERS:
        path = pathlib.Path(folder, 'libgalera_smm.so')
        if path.exists():
            return path
    raise errors.NotInstalled('libgalera_smm.so is not installed')
