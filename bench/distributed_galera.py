# SPDX-License-Identifier: Apache-2.0

"""A Galera cluster with a delay between its nodes.

Each node but the first has its own network namespace. In it, the addresses of
the other nodes are those of delay proxies, which are connected by Unix
sockets. The first node stays in the namespace of this program, where Keystone
connects to it without a delay.
"""

import os

from bench import delay_proxy
from patchset import errors
from patchset.services import galera
from patchset.services import server

_PORTS = ('group', 'increments', 'files')


class Node(galera.Node):
    """One node, in a namespace.

    :param ports: {name: TCP port} that other nodes connect to
    """

    def __init__(self, cluster, number, ports):
        super().__init__(cluster, number)
        self.ports = ports

    def _port(self, name):
        return self.ports[name]

    def _account(self, program):
        return [*self.prefix, *super()._account(program)]


class Cluster(galera.Cluster):
    """Nodes with a delay between them; see :meth:`set_delay`.

    :param share: function of the numbers of two nodes: which share of the
        delay is between them
    """

    def __init__(self, size, folder, options=(), share=lambda *_: 1):
        super().__init__(size, folder, options)
        free = server.free_ports(size * len(_PORTS))
        self.nodes = [
            Node(self, number, {name: free.pop() for name in _PORTS})
            for number in range(size)
        ]
        self._proxies = []
        self._share = share

    def _start(self):
        if os.geteuid() != 0:
            raise errors.Error(
                'a Galera cluster with a delay requires root, for the network '
                'namespaces of its nodes'
            )
        for number, node in enumerate(self.nodes):
            self._start_proxies(number, node)
        super()._start()

    def set_delay(self, milliseconds):
        """Set the round trip time between the nodes."""
        for proxies in self._proxies:
            proxies.set_delay(milliseconds)

    def _start_proxies(self, number, node):
        """Start the proxies in the namespace of a node."""
        addresses = []
        for other_number, other in enumerate(self.nodes):
            for port in other.ports.values():
                # The namespace of the node with the port listens there.
                path = str(self.folder / f'delay-proxy-{port}')
                addresses.append(
                    [path, port, 0]
                    if other is node
                    else [port, path, self._share(number, other_number)]
                )
        prefix = []
        if number:
            up = 'ip link set lo up && exec "$@"'
            prefix = ['unshare', '--net', 'sh', '-c', up, 'sh']
        proxies = delay_proxy.DelayProxies(addresses, prefix)
        self._proxies.append(self._stack.enter_context(proxies))
        if number:
            node.prefix = ['nsenter', f'--net=/proc/{proxies.pid}/ns/net']
