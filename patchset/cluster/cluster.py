# SPDX-License-Identifier: Apache-2.0

"""A running cluster: Keystone nodes, HAProxy, database and caches."""

import itertools

from bench import delay_proxy
from patchset import assemble
from patchset import client
from patchset import environment
from patchset import keystone_conf
from patchset import paths
from patchset import progress
from patchset.cluster import databases
from patchset.cluster import node
from patchset.services import haproxy
from patchset.services import memcached
from patchset.services import server
from patchset.test_parts import cloud


class Cluster(server.Service):
    """Keystone nodes behind one endpoint; a context manager.

    The thread that enters it must live as long as the block, because the
    kernel stops the servers when that thread ends.

    :param pin: release, a :class:`patchset.pins.Pin`
    :param layout: a :class:`patchset.cluster.layout.Layout`
    :param options: {section: {option: value}} for each keystone.conf
    :param balancer_options: ``port`` and ``check_timeout`` of HAProxy
    :raises patchset.errors.Error: a server did not start
    """

    def __init__(self, pin, layout, options=None, **balancer_options):
        super().__init__()
        self.pin = pin
        self.layout = layout
        self._options = options
        self._balancer_options = balancer_options
        self._folder = None
        self._venv = None
        self._ports = []  # of the nodes
        self._delay_proxies = None
        self._proxy_ports = {}  # {(port, share of the delay): port}
        self.database = None  # see patchset.cluster.databases
        self.caches = []  # a patchset.services.memcached.Memcached each
        self.balancer = None  # a patchset.services.haproxy.HAProxy
        self.nodes = []  # a patchset.cluster.node.Node each

    @property
    def url(self):
        """URL of the API, including the version."""
        return f'http://127.0.0.1:{self.balancer.port}/v3'

    @property
    def login(self):
        """The admin's identity, and the scope of its project: a tuple."""
        return client.password(self.nodes[0].password), client.ADMIN_PROJECT

    @property
    def client(self):
        """A :class:`patchset.client.Client` of HAProxy."""
        return client.Client(self.balancer.port, 'HAProxy')

    @property
    def clients(self):
        """One of each node, which is accessed directly: a list."""
        return [client.Client(one.port, one.name) for one in self.nodes]

    def set_delay(self, milliseconds):
        """Set the round trip time between regions."""
        if self._delay_proxies:
            self._delay_proxies.set_delay(milliseconds)
        self.database.set_delay(milliseconds)

    def _start(self):
        self._venv = environment.Environment(self.pin.release, 'run').ensure()
        self._folder = self._stack.enter_context(
            paths.temporary('ks-cluster-', mode=0o711)
        )
        self._start_servers()
        for number, name in enumerate(self.layout.names):
            self.nodes.append(self._make_node(number, name))
        self._start_nodes()
        self.set_delay(self.layout.rtt)

    def _start_servers(self):
        layout = self.layout
        with progress.stage(f'starting {layout.database} and memcached'):
            self.database = self._stack.enter_context(
                databases.ALL[layout.database](layout, self._folder)
            )
            self.caches = [
                self._stack.enter_context(memcached.Memcached(self._folder))
                for _ in range(layout.caches)
            ]
        self._ports = server.free_ports(layout.nodes)
        self._start_delay_proxies()
        self._stack.callback(cloud.stop_all, self.nodes)
        servers = {
            name: self._port_from(layout.region(number), port, 0)
            for number, (name, port) in enumerate(
                zip(layout.names, self._ports, strict=True)
            )
        }
        self.balancer = self._stack.enter_context(
            haproxy.HAProxy(self._folder, servers, **self._balancer_options)
        )

    def _start_delay_proxies(self):
        """Start delay proxies for the ports used by other regions."""
        if self.layout.regions == 1:
            return
        ports = [*self._ports, *self.database.proxied_ports]
        if self.layout.cache != 'per-node':
            ports += [one.port for one in self.caches]
        proxies = list(itertools.product(ports, self.layout.delay_shares))
        self._delay_proxies = self._stack.enter_context(
            delay_proxy.DelayProxies([[0, *one] for one in proxies])
        )
        self._proxy_ports = dict(
            zip(proxies, self._delay_proxies.addresses, strict=True)
        )

    def _port_from(self, region, port, here):
        """The port by which region ``here`` reaches a port of a region."""
        share = self.layout.delay_share(region, here)
        return self._proxy_ports[port, share] if share else port

    def _make_node(self, number, name):
        layout = self.layout
        here = layout.region(number)
        is_stock = bool(layout.is_stock(number))

        def reach(region, port):
            return self._port_from(region, port, here)

        caches = [
            reach(layout.region(one), self.caches[one].port)
            for one in layout.caches_of(number)
        ]
        return node.Node(
            name, here, is_stock, self.url,
            assemble.ensure(self.pin, is_stock), self._venv,
            self._folder / name,
            port=self._ports[number],
            database=self.database.url_of_node(number, reach),
            processes=layout.processes,
            # With more, stock can use data that another request has left.
            threads=1,
            options=keystone_conf.merge(
                self._common_options(caches), self._options
            ),
        )  # fmt: skip

    def _common_options(self, ports):
        first = self._folder / self.layout.names[0]
        servers = ','.join(f'127.0.0.1:{port}' for port in ports)
        return {
            'cache': {
                'enabled': True,
                'backend': 'dogpile.cache.memcached',
                'memcache_servers': servers,
            },
            'identity': {'password_hash_rounds': 4},
            **keystone_conf.keys(first),
        }

    def _start_nodes(self):
        first, *others = self.nodes
        first.prepare()
        # On a server that lags, the schema would be created again.
        self.database.catch_up()
        for one in others:
            one.prepare_like(first)
        with progress.stage(f'starting {len(self.nodes)} nodes'):
            cloud.start_all(self.nodes)
            self.balancer.wait_for(dict.fromkeys(self.layout.names, 'UP'))
