# SPDX-License-Identifier: Apache-2.0

"""Faults of the components of a cluster, each of which is repaired."""

import collections.abc
import dataclasses
import time

from patchset.cluster import load

_GALERA = ('galera',)


@dataclasses.dataclass(frozen=True)
class Fault:
    """One kind of fault.

    :param happen: callable; takes a
        :class:`patchset.cluster.cluster.Cluster` and the seconds for which a
        component is unavailable
    :param of_cache: whether writes to a cache can be lost
    :param databases: names of the databases it applies to; empty is all
    :param caches: names of the cache arrangements it applies to; empty is all
    """

    happen: collections.abc.Callable
    of_cache: bool = False
    databases: tuple = ()
    caches: tuple = ()

    def fits(self, layout):
        """Whether the fault applies to a layout."""
        return (not self.databases or layout.database in self.databases) and (
            not self.caches or layout.cache in self.caches
        )


def _nothing(cluster, seconds):
    time.sleep(seconds)


def _kill_worker(cluster, seconds):
    cluster.nodes[-1].kill_worker()
    time.sleep(seconds)


def _kill_node(cluster, seconds):
    one = cluster.nodes[-1]
    one.kill()
    time.sleep(seconds)
    one.start()
    cluster.balancer.wait_for({one.name: 'UP'})


def _drain_node(cluster, seconds):
    one = cluster.nodes[-1]
    cluster.balancer.drain(one.name)
    one.kill()
    time.sleep(seconds)
    one.start()
    cluster.balancer.set_state(one.name, 'ready')
    cluster.balancer.wait_for({one.name: 'UP'})


def _reload_balancer(cluster, seconds):
    cluster.balancer.reload()
    time.sleep(seconds)


def _kill_cache(cluster, seconds):
    cluster.caches[-1].kill()
    time.sleep(seconds)
    cluster.caches[-1].revive()


def _pause_cache(cluster, seconds):
    with cluster.caches[-1].paused():
        time.sleep(seconds)


def _empty_cache(cluster, seconds):
    for one in cluster.caches:
        one.flush()
    time.sleep(seconds)


def _kill_database(cluster, seconds):
    # The first server of a Galera cluster keeps the quorum.
    cluster.database.servers[-1].kill()
    time.sleep(seconds)
    cluster.database.servers[-1].revive()


def _pause_database(cluster, seconds):
    with cluster.database.servers[-1].paused():
        time.sleep(seconds)


def _cut_off_database(cluster, seconds):
    with cluster.database.servers[-1].cut_off():
        time.sleep(seconds)


def _hold_back_database(cluster, seconds):
    with cluster.database.servers[-1].held_back():
        time.sleep(seconds)


def _restart_database(cluster, seconds):
    cluster.database.servers[0].restart()
    time.sleep(seconds)


ALL = {
    'nothing': Fault(_nothing),
    'worker killed': Fault(_kill_worker),
    'node killed': Fault(_kill_node),
    'node drained, killed': Fault(_drain_node),
    'HAProxy reloaded': Fault(_reload_balancer),
    'memcached killed': Fault(
        _kill_cache, of_cache=True, caches=('shared', 'per-node')
    ),
    'one of three lost': Fault(_kill_cache, of_cache=True, caches=('ring',)),
    'memcached paused': Fault(_pause_cache, of_cache=True),
    'memcached emptied': Fault(_empty_cache, of_cache=True),
    'Galera node killed': Fault(_kill_database, databases=_GALERA),
    'Galera node paused': Fault(_pause_database, databases=_GALERA),
    'Galera node cut off': Fault(_cut_off_database, databases=_GALERA),
    'Galera node lags': Fault(_hold_back_database, databases=_GALERA),
    'database restarted': Fault(
        _restart_database, databases=('mariadb', 'postgresql')
    ),
}


def of(layout):
    """Names of the faults that apply to a layout."""
    return [name for name, fault in ALL.items() if fault.fits(layout)]


def endure(cluster, names, seconds, interval):
    """Inject faults under load, one after the other.

    :param cluster: a running :class:`patchset.cluster.cluster.Cluster`
    :param names: of :data:`ALL`
    :param seconds: how long a component is unavailable, and how long the
        load continues afterwards
    :param interval: ``[revoke] sync_interval`` of the nodes, in seconds
    :returns: tuple of two items. The first is {name: dict}; each dict has the
        items of :meth:`patchset.cluster.load.Load.summary`; ``lasted``, the
        seconds until the component had recovered; ``revoked``, the number of
        revoked tokens; ``accepted``, how often a revoked token was accepted
        past its bound; and ``longest``, the longest time in seconds for which
        one was accepted, including within its bound. The second is the list
        of :meth:`patchset.cluster.load.Load.lost`
    """
    found = {}
    with load.Load(cluster, interval) as clients:
        for name in names:
            found[name] = _endure_one(
                cluster, clients, ALL[name], seconds, interval
            )
    time.sleep(interval + load.SLACK)
    return found, clients.lost()


def _endure_one(cluster, clients, fault, seconds, interval):
    if fault.of_cache:
        clients.loosen()
    clients.longest = 0.0
    known = len(clients.accepted), len(clients.revoked)
    began = time.monotonic()
    fault.happen(cluster, seconds)
    lasted = time.monotonic() - began
    time.sleep(seconds)
    if fault.of_cache:
        # By then, all nodes have read the revocations from the database.
        time.sleep(interval + load.SLACK)
        clients.tighten()
    return {
        **clients.summary(began, time.monotonic()),
        'lasted': round(lasted, 2),
        'accepted': len(clients.accepted) - known[0],
        'revoked': len(clients.revoked) - known[1],
        'longest': round(clients.longest, 2),
    }
