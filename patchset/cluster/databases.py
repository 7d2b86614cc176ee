# SPDX-License-Identifier: Apache-2.0

"""The database of a cluster: one server, or a Galera cluster."""

from bench import delay_proxy
from patchset.services import galera
from patchset.services import mariadb
from patchset.services import postgresql

NAME = 'keystone'
# Until the schema is complete: on a server that lags, several appliers run the
# DROP INDEX on project_tag that ends db_sync in parallel with the INSERT into
# project that begins bootstrap. Each waits for the other forever, and the log
# has "MDL BF-BF conflict": as in MDEV-25039, but with 10.11.19.
_ONE_APPLIER = ('--wsrep-slave-threads=1',)


class _Central:
    """One server in the first region.

    :param layout: a :class:`patchset.cluster.layout.Layout`
    :param folder: parent of its temporary folder
    """

    def __init__(self, layout, folder):
        super().__init__(folder, durable=True)
        #: a :class:`patchset.services.server.Server` each
        self.servers = [self]

    @property
    def proxied_ports(self):
        """Ports that nodes in other regions reach through a delay proxy."""
        return [self.port]

    def url_of_node(self, number, reach):
        """SQLAlchemy URL for a node.

        :param number: number of the node
        :param reach: callable; takes the number of a region and a port there,
            and returns the port by which the node reaches it
        """
        return self.url(NAME, reach(0, self.port))

    def catch_up(self):
        """Do nothing: commits are visible immediately."""

    def set_delay(self, milliseconds):
        """Do nothing: the cluster delays the connections to it."""


class _MariaDB(_Central, mariadb.MariaDB):
    """MariaDB in the first region."""


class _PostgreSQL(_Central, postgresql.PostgreSQL):
    """PostgreSQL in the first region."""


class _Galera(galera.Cluster):
    """A server in each region, or three if there is only one region.

    With multiple regions, each server but the first has a network namespace,
    which requires root. TCP does not reach a server in such a namespace from
    outside, so the nodes of its region use its Unix socket.

    :param layout: a :class:`patchset.cluster.layout.Layout`
    :param folder: parent of its temporary folders
    """

    proxied_ports = ()

    def __init__(self, layout, folder):
        share = layout.delay_share if layout.regions > 1 else None
        super().__init__(layout.databases, folder, _ONE_APPLIER, share)
        self._layout = layout
        self.servers = self.nodes
        self._ports = []  # that Keystone connects to

    def _start(self):
        super()._start()
        self._ports = [one.port for one in self.servers]
        if self._share:
            self._start_socket_proxies()

    def _start_socket_proxies(self):
        # For MariaDB, clients of the Unix socket have another host.
        self.query(
            'CREATE USER keystone@localhost '
            f"IDENTIFIED BY '{self.password}'; "
            'GRANT ALL ON *.* TO keystone@localhost'
        )
        others = self.servers[1:]
        sockets = [[0, str(one.folder / 'socket'), 0] for one in others]
        proxies = self._stack.enter_context(delay_proxy.DelayProxies(sockets))
        self._ports[1:] = proxies.addresses

    def url_of_node(self, number, reach):
        """SQLAlchemy URL for a node; see :meth:`_Central.url_of_node`."""
        server = self._layout.database_of(number)
        return self.servers[server].url(NAME, self._ports[server])

    def catch_up(self):
        """Wait until each server has applied the schema."""
        for one in self.servers:
            one.query(
                f'SET wsrep_sync_wait = 1; SELECT COUNT(*) FROM {NAME}.project'
            )
            # The clients change no tables.
            one.query('SET GLOBAL wsrep_slave_threads = 4')


#: The classes by the names in :data:`patchset.cluster.layout.DATABASES`.
ALL = {'mariadb': _MariaDB, 'postgresql': _PostgreSQL, 'galera': _Galera}
