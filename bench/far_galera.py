# SPDX-License-Identifier: Apache-2.0

"""A Galera cluster with a delay between its nodes.

Each node but the first has its own network namespace. The addresses of the
other nodes lead to them through proxies and Unix sockets. The first node stays
in the namespace of this program, where Keystone reaches it.
"""

import os

from bench import line
from patchset import errors
from patchset.services import galera
from patchset.services import server

_PORTS = ('group', 'increments', 'files')


class Node(galera.Node):
    """One node, in a namespace.

    :param ports: {name: TCP port} of what other nodes reach
    """

    def __init__(self, cluster, number, ports):
        super().__init__(cluster, number)
        self.ports = ports

    def _port(self, name):
        return self.ports[name]

    def _account(self, program):
        return [*self.prefix, *super()._account(program)]


class Cluster(galera.Cluster):
    """Nodes that are as far from each other as :meth:`lengthen` says.

    :param share: function of the numbers of two nodes: which share of that
        is between them
    """

    def __init__(self, size, folder, options=(), share=lambda *_: 1):
        super().__init__(size, folder, options)
        free = server.free_ports(size * len(_PORTS))
        self.nodes = [
            Node(self, number, {name: free.pop() for name in _PORTS})
            for number in range(size)
        ]
        self._lines = []
        self._share = share

    def _start(self):
        if os.geteuid() != 0:
            raise errors.Error(
                'a Galera cluster with distances needs root, for the network '
                'namespaces of its nodes'
            )
        for number, node in enumerate(self.nodes):
            self._connect(number, node)
        super()._start()

    def through(self, url):
        """The URL as it is: the first node is near."""
        return url

    def lengthen(self, milliseconds):
        """Have a question to another node take so much longer from now on."""
        for one in self._lines:
            one.lengthen(milliseconds)

    def _connect(self, number, node):
        proxies = []
        for place, other in enumerate(self.nodes):
            for port in other.ports.values():
                # Where the namespace of the node that has it listens.
                path = str(self.folder / f'line-{port}')
                proxies.append(
                    [path, port, 0]
                    if other is node
                    else [port, path, self._share(number, place)]
                )
        prefix = []
        if number:
            up = 'ip link set lo up && exec "$@"'
            prefix = ['unshare', '--net', 'sh', '-c', up, 'sh']
        lines = self._stack.enter_context(line.Lines(proxies, prefix))
        self._lines.append(lines)
        if number:
            node.prefix = ['nsenter', f'--net=/proc/{lines.pid}/ns/net']
