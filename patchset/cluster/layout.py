# SPDX-License-Identifier: Apache-2.0

"""The components of a cluster, and their regions."""

import dataclasses

from patchset import errors

DATABASES = ('mariadb', 'galera', 'postgresql')
CACHES = ('shared', 'ring', 'per-node')
RING_SIZE = 3  # memcached servers
GALERA_SIZE = 3  # Galera servers if there is only one region
REGIONS_PER_GROUP = 3
GROUP_DELAY_SHARE = 20 / 150  # delay within a group, relative to other regions
MAX_NODES = 60


@dataclasses.dataclass(frozen=True)
class Layout:
    """The layout of a cluster. Numbers start at 0, names at 1.

    Nodes, the servers of a ring and Galera servers are assigned to the regions
    in turn. Components with a single instance are in the first region.

    :param nodes: number of Keystone nodes
    :param regions: number of regions
    :param rtt: round trip time between regions in milliseconds
    :param database: one of :data:`DATABASES`
    :param cache: one of :data:`CACHES`
    :param kind: patched, stock or mixed, which alternates both
    :param processes: server processes of each node
    :param grouped: whether the regions are in groups of
        :data:`REGIONS_PER_GROUP`, within which the round trip time is shorter,
        by :data:`GROUP_DELAY_SHARE`
    :raises patchset.errors.UsageError: the values are invalid
    """

    nodes: int = 3
    regions: int = 1
    rtt: int = 0
    database: str = 'mariadb'
    cache: str = 'shared'
    kind: str = 'patched'
    processes: int = 2
    grouped: bool = False

    def __post_init__(self):
        if not 1 <= self.nodes <= MAX_NODES:
            raise errors.UsageError(
                f'--nodes must be between 1 and {MAX_NODES}'
            )
        if not 1 <= self.regions <= self.nodes:
            raise errors.UsageError('--regions must be between 1 and --nodes')
        if self.rtt < 0 or self.processes < 1:
            raise errors.UsageError('--rtt or --processes is too small')
        if self.rtt and self.regions == 1:
            raise errors.UsageError('--rtt requires more than one region')
        if self.grouped and self.regions <= REGIONS_PER_GROUP:
            raise errors.UsageError(
                f'groups require over {REGIONS_PER_GROUP} regions'
            )

    @property
    def names(self):
        """Names of the nodes: a list."""
        return [f'node{number}' for number in range(1, self.nodes + 1)]

    @property
    def caches(self):
        """The number of memcached servers."""
        return {'shared': 1, 'ring': RING_SIZE, 'per-node': self.nodes}[
            self.cache
        ]

    @property
    def databases(self):
        """The number of database servers."""
        if self.database != 'galera':
            return 1
        return self.regions if self.regions > 1 else GALERA_SIZE

    def region(self, number):
        """The region of the node or server with this number."""
        return number % self.regions

    @property
    def delay_shares(self):
        """Possible values of :meth:`delay_share` between regions: a tuple."""
        return (1, GROUP_DELAY_SHARE) if self.grouped else (1,)

    def delay_share(self, region, other):
        """Delay between two regions, as a share of ``rtt``."""
        if region == other:
            return 0
        if not self.grouped:
            return 1
        groups = {number // REGIONS_PER_GROUP for number in (region, other)}
        return GROUP_DELAY_SHARE if len(groups) == 1 else 1

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
