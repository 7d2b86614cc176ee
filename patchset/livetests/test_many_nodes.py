# SPDX-License-Identifier: Apache-2.0

"""Clusters of three nodes whose parts fail, under load.

Nothing that was revoked may be accepted past its bound: with a common cache at
once, and after ``[revoke] sync_interval`` where each node has a memcached of
its own, or one fails. Nothing good may be refused, and nothing lost.
``KS_SECONDS`` is how long each part is away, and how long the load goes on
afterwards.
"""

import os

import testtools

from patchset import pins
from patchset.cluster import cluster
from patchset.cluster import faults
from patchset.cluster import layout

SECONDS = float(os.environ.get('KS_SECONDS', 2))
BOUND = 2  # seconds, of sync_interval
SLACK = 1.0  # seconds that a request may be under way when all is well again
# Nobody may notice these.
_SMOOTH = ('nothing', 'node drained, killed', 'HAProxy reloaded')


class _Faults:
    """What holds for each cluster; a subclass lays it out."""

    layout = {}
    # Keystone's own default keeps a memcached out for five minutes.
    options = {'cache': {'memcache_dead_retry': 1}}
    revoke = {'revoke': {'sync_interval': BOUND}}

    def endure(self, *names, **more):
        """What faults do to a cluster; see patchset.cluster.faults."""
        chosen = layout.Layout(**{**self.layout, **more})
        options = {**self.options}
        if chosen.kind == 'patched':
            options.update(self.revoke)
        names = names or faults.of(chosen)
        with cluster.Cluster(
            pins.load(pins.newest()), chosen, options=options
        ) as running:
            return faults.endure(running, names, SECONDS, BOUND)

    def check(self, *names):
        """Have faults happen, and hold the patched nodes to what is said."""
        found, lost = self.endure(*names)
        for name, one in found.items():
            self.assertEqual(0, one['accepted'], (name, one))
            self.assertEqual(0, one['refused'], (name, one))
            self.assertLess(0, one['requests'], (name, one))
            if name in _SMOOTH:
                self.assertEqual(0, one['failed'], (name, one))
            self.assertLess(one['recovered'], one['lasted'] + SLACK, name)
        self.assertEqual([], lost)
        self.assertLess(10, sum(one['revoked'] for one in found.values()))


class FarGaleraFaultTests(_Faults, testtools.TestCase):
    """Each region has a node, a memcached and a server of Galera."""

    layout = {
        'regions': 3, 'rtt': 100, 'database': 'galera', 'cache': 'per-node',
    }  # fmt: skip

    def setUp(self):
        super().setUp()
        if os.geteuid():
            self.skipTest('network namespaces need root')

    def test_one_fault_of_each_kind(self):
        self.check(
            'worker killed', 'node drained, killed', 'HAProxy reloaded',
            'memcached killed', 'Galera node killed',
        )  # fmt: skip


class FarRingFaultTests(_Faults, testtools.TestCase):
    """The regions have a ring of memcached in common."""

    layout = {
        'regions': 3, 'rtt': 100, 'database': 'galera', 'cache': 'ring',
    }  # fmt: skip

    def setUp(self):
        super().setUp()
        if os.geteuid():
            self.skipTest('network namespaces need root')

    def test_faults(self):
        self.check()


class SharedCacheFaultTests(_Faults, testtools.TestCase):
    """Near each other, with one memcached."""

    def test_faults(self):
        self.check()


class RingFaultTests(_Faults, testtools.TestCase):
    """Near each other, with a ring of memcached, on PostgreSQL."""

    layout = {'cache': 'ring', 'database': 'postgresql'}

    def test_faults(self):
        self.check()


class PerNodeFaultTests(_Faults, testtools.TestCase):
    """Near each other, with a memcached each."""

    layout = {'cache': 'per-node'}

    def test_faults(self):
        self.check()

    def test_stock_would_not_pass(self):
        # This shows that the other tests can fail.
        found, lost = self.endure('node killed', kind='stock')
        self.assertLess(0, found['node killed']['accepted'] + len(lost))
