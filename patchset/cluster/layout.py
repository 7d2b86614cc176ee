# SPDX-License-Identifier: Apache-2.0

"""What a cluster consists of, and where its parts stand."""

import dataclasses

from patchset import errors

DATABASES = ('mariadb', 'galera', 'postgresql')
CACHES = ('shared', 'ring', 'per-node')
KINDS = ('patched', 'stock', 'mixed')
RING = 3  # memcached servers in a ring
GALERA = 3  # nodes of Galera where all stand in one region
MOST = 60  # nodes


@dataclasses.dataclass(frozen=True)
class Layout:
    """The arrangement of a cluster. Numbers begin at 0, names at 1.

    Nodes, the servers of a ring and those of Galera are dealt out to the
    regions in turn. What there is only one of stands in the first region.

    :param nodes: number of Keystones
    :param regions: number of regions
    :param rtt: milliseconds from one region to another and back
    :param database: one of :data:`DATABASES`
    :param cache: one of :data:`CACHES`
    :param kind: one of :data:`KINDS`; mixed has patched and stock in turn
    :param processes: server processes of each node
    :raises patchset.errors.UsageError: these do not go together
    """

    nodes: int = 3
    regions: int = 1
    rtt: int = 0
    database: str = 'mariadb'
    cache: str = 'shared'
    kind: str = 'patched'
    processes: int = 2

    def __post_init__(self):
        if not 1 <= self.nodes <= MOST:
            raise errors.UsageError(f'nodes: between 1 and {MOST}')
        if not 1 <= self.regions <= self.nodes:
            raise errors.UsageError('regions: each needs a node')
        if self.rtt < 0 or self.processes < 1:
            raise errors.UsageError('a number is too small')
        if self.rtt and self.regions == 1:
            raise errors.UsageError('one region has no distance to another')

    @property
    def names(self):
        """Names of the nodes: a list."""
        return [f'node{number}' for number in range(1, self.nodes + 1)]

    @property
    def caches(self):
        """The number of memcached servers."""
        return {'shared': 1, 'ring': RING, 'per-node': self.nodes}[self.cache]

    @property
    def databases(self):
        """The number of database servers."""
        if self.database != 'galera':
            return 1
        return self.regions if self.regions > 1 else GALERA

    def region(self, number):
        """The region of a node or server, by its number among its like."""
        return number % self.regions

    def is_stock(self, number):
        """Whether a node runs stock Keystone."""
        return self.kind == 'stock' or (self.kind == 'mixed' and number % 2)

    def caches_of(self, number):
        """Numbers of the memcached servers that a node uses."""
        if self.cache == 'per-node':
            return [number]
        return list(range(self.caches))

    def database_of(self, number):
        """Number of the database server that a node uses."""
        return number % self.databases
