# SPDX-License-Identifier: Apache-2.0

"""The plan of one run of an experiment."""

import dataclasses

from bench import cloud
from patchset import pins


@dataclasses.dataclass(frozen=True)
class Plan:
    """The arguments of a run.

    :param pin: the release
    :param scale: ``small`` or ``full``
    :param caching: whether ``[token] caching`` is on
    :param kinds: names of the kinds of events; empty is the scale's choice
    :param cases: names of the cases of an experiment that are run; empty is
        all of them
    :param rates: for living, rounds of writes per second; empty is the
        scale's choice
    :param databases: names in :data:`bench.databases.ALL`; most experiments
        run on the first
    :param delays: for rally, regions and propagation, the delays in
        milliseconds that they measure with; empty is the scale's choice
    :param delay: milliseconds between Keystone and its database, or between
        the nodes of a cluster, both ways together
    :param nodes: for regions, number of nodes of a cluster
    :param against: the :class:`bench.cloud.Account` of an existing Keystone,
        which is measured instead; None starts stock and patched
    """

    pin: pins.Pin
    scale: str
    caching: bool = True
    kinds: tuple = ()
    cases: tuple = ()
    rates: tuple = ()
    databases: tuple = ('mariadb',)
    delays: tuple = ()
    delay: int = 0
    nodes: int = 3
    against: cloud.Account | None = None

    @property
    def database(self):
        """Name of the database that both sides run on."""
        return self.databases[0]

    @property
    def options(self):
        """{section: {option: value}} of both keystone.conf."""
        return {'token': {'caching': 'true' if self.caching else 'false'}}
