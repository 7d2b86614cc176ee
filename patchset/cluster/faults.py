# SPDX-License-Identifier: Apache-2.0

"""Faults of the components of a cluster, each of which is repaired."""

import collections.abc
import dataclasses
import functools
import time

from patchset import assemble
from patchset.cluster import cluster
from patchset.cluster import load

INTERVAL = 2  # [revoke] sync_interval of patched nodes, in seconds
# By default, Keystone bypasses a failed memcached for five minutes.
_OPTIONS = {'cache': {'memcache_dead_retry': 1}}
# Clock skews of a node in seconds.
CLOCKS = {f'clock {skew:+d} s': skew for skew in (5, -5, 90, -90)}


@dataclasses.dataclass(frozen=True)
class Fault:
    """One kind of fault.

    :param inject: callable; takes a
        :class:`patchset.cluster.cluster.Cluster` and the seconds for which a
        component is unavailable
    :param of_cache: whether writes to a cache can be lost
    :param databases: names of the databases it applies to; empty is all
    :param caches: names of the cache arrangements it applies to; empty is all
    """

    inject: collections.abc.Callable
    of_cache: bool = False
    databases: tuple = ()
    caches: tuple = ()

    def applies_to(self, layout):
        """Whether the fault applies to a layout."""
        return (not self.databases or layout.database in self.databases) and (
            not self.caches or layout.cache in self.caches
        )


def _at_once(cause):
    """The injection of a fault that does not have to be repaired.

    :param cause: callable; takes the cluster
    """

    def inject(running, seconds):
        cause(running)
        time.sleep(seconds)

    return inject


def _kill_node(running, seconds):
    one = running.nodes[-1]
    one.kill()
    time.sleep(seconds)
    one.start()
    running.balancer.wait_for({one.name: 'UP'})


def _drain_node(running, seconds):
    one = running.nodes[-1]
    with running.balancer.drained(one.name):
        one.kill()
        time.sleep(seconds)
        one.start()


def _skew_clock(skew, running, seconds):
    one = running.nodes[-1]
    for new_skew in (skew, 0):
        one.skew = new_skew
        with running.balancer.drained(one.name):
            one.restart()
        time.sleep(seconds)


def _upgrade(running, seconds):
    # One node after the other, and then a downgrade.
    for one in 2 * running.nodes:
        one.is_stock = not one.is_stock
        one.tree = assemble.ensure(running.pin, one.is_stock)
        with running.balancer.drained(one.name):
            one.restart()
        time.sleep(seconds)


def _during(server, state):
    """The injection of a fault by which a server is in a state.

    :param server: callable; takes the cluster and returns the server
    :param state: name of the server's method for it, a context manager
    """

    def inject(running, seconds):
        with getattr(server(running), state)():
            time.sleep(seconds)

    return inject


def _of_cache(state, *caches):
    inject = _during(lambda running: running.caches[-1], state)
    return Fault(inject, of_cache=True, caches=caches)


def _of_galera(state):
    # The first server of a Galera cluster keeps the quorum.
    inject = _during(lambda running: running.database.servers[-1], state)
    return Fault(inject, databases=('galera',))


def _empty_caches(running):
    for one in running.caches:
        one.flush()


def _restore_cache(running, seconds):
    old = running.caches[-1].dump()
    time.sleep(seconds)
    running.caches[-1].replace(old)


def _split_cache(running, seconds):
    # The last node only knows the last server.
    one = running.nodes[-1]
    servers = one.options['cache']['memcache_servers']
    for known in (servers.rpartition(',')[2], servers):
        with running.balancer.drained(one.name):
            one.restart({'cache': {'memcache_servers': known}})
        time.sleep(seconds)


ALL = {
    'nothing': Fault(_at_once(lambda running: None)),
    'worker killed': Fault(
        _at_once(lambda running: running.nodes[-1].kill_worker())
    ),
    'node killed': Fault(_kill_node),
    'node drained, killed': Fault(_drain_node),
    'HAProxy reloaded': Fault(
        _at_once(lambda running: running.balancer.reload())
    ),
    'rolling upgrade': Fault(_upgrade, caches=('shared',)),
    'memcached killed': _of_cache('stopped', 'shared', 'per-node'),
    'one of three lost': _of_cache('stopped', 'ring'),
    'memcached paused': _of_cache('paused'),
    'memcached emptied': Fault(_at_once(_empty_caches), of_cache=True),
    'memcached restored': Fault(_restore_cache, of_cache=True),
    'memcached split': Fault(_split_cache, of_cache=True, caches=('ring',)),
    'Galera node killed': _of_galera('stopped'),
    'Galera node paused': _of_galera('paused'),
    'Galera node cut off': _of_galera('isolated'),
    'Galera node lags': _of_galera('replication_paused'),
    'database restarted': Fault(
        _at_once(lambda running: running.database.servers[0].restart()),
        databases=('mariadb', 'postgresql'),
    ),
    # Last: a token that stock accepts because of them remains accepted.
    **{
        name: Fault(
            functools.partial(_skew_clock, skew), caches=('shared', 'per-node')
        )
        for name, skew in CLOCKS.items()
    },
}


def applicable(layout):
    """Names of the faults that apply to a layout."""
    return [name for name, fault in ALL.items() if fault.applies_to(layout)]


def run(pin, layout, seconds, names=(), defaults=False):
    """Start a cluster, and inject faults.

    :param pin: release, a :class:`patchset.pins.Pin`
    :param layout: a :class:`patchset.cluster.layout.Layout`
    :param seconds: as for :func:`inject_all`
    :param names: of :data:`ALL`; empty is each that applies
    :param defaults: whether to keep the default settings, with which a failed
        memcached is bypassed for minutes
    :returns: what :func:`inject_all` returns
    """
    options, interval = dict(_OPTIONS), INTERVAL
    if layout.kind == 'patched':
        options['revoke'] = {'sync_interval': INTERVAL}
    if defaults:
        options, interval = {}, 10
    with cluster.Cluster(pin, layout, options=options) as running:
        return inject_all(
            running, names or applicable(layout), seconds, interval
        )


def inject_all(running, names, seconds, interval):
    """Inject faults under load, one after the other.

    :param running: a running :class:`patchset.cluster.cluster.Cluster`
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
        of :meth:`patchset.cluster.load.Load.find_losses`
    """
    results = {}
    with load.Load(running, interval) as clients:
        for name in names:
            results[name] = _inject_one(
                running, clients, ALL[name], seconds, interval
            )
    time.sleep(interval + load.SLACK)
    return results, clients.find_losses()


def _inject_one(running, clients, fault, seconds, interval):
    if fault.of_cache:
        clients.allow_cache_loss()
    clients.longest = 0.0
    accepted, revoked = len(clients.accepted), len(clients.revoked)
    start = time.monotonic()
    fault.inject(running, seconds)
    duration = time.monotonic() - start
    time.sleep(seconds)
    if fault.of_cache:
        # By then, all nodes have read the revocations from the database.
        time.sleep(interval + load.SLACK)
        clients.forbid_cache_loss()
    return {
        **clients.summary(start, time.monotonic()),
        'lasted': round(duration, 2),
        'accepted': len(clients.accepted) - accepted,
        'revoked': len(clients.revoked) - revoked,
        'longest': round(clients.longest, 2),
    }
