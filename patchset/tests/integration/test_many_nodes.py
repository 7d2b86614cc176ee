# SPDX-License-Identifier: Apache-2.0

"""Clusters of three nodes whose components fail under load.

No revoked token may be accepted past its bound: immediately with a shared
cache, and after ``[revoke] sync_interval`` if each node has its own memcached
or a memcached fails. No good token may be rejected, and no change lost.
``KS_SECONDS`` is the number of seconds for which a component is unavailable,
and for which the load continues afterwards.
"""

import os

import testtools

from patchset import pins
from patchset.cluster import faults
from patchset.cluster import layout

SECONDS = float(os.environ.get('KS_SECONDS', 2))
SLACK = 1.0  # seconds that a request may take after the recovery
# These must not fail any request.
_SMOOTH = (
    'nothing', 'node drained, killed', 'HAProxy reloaded', 'rolling upgrade',
    'memcached split', *faults.CLOCKS,
)  # fmt: skip


class _Faults:
    """Checks for each cluster; subclasses define the layout."""

    layout = {}
    seconds = SECONDS

    def inject(self, *names, defaults=False, **more):
        """Start a cluster and inject faults; see patchset.cluster.faults."""
        chosen = layout.Layout(**self.layout, **more)
        pin = pins.load(pins.newest())
        return faults.run(pin, chosen, self.seconds, names, defaults)

    def check(self, *names, **more):
        """Inject faults, and check the requirements on patched nodes."""
        found, lost = self.inject(*names, **more)
        for name, one in found.items():
            self.assertEqual(0, one['accepted'], (name, one))
            self.assertEqual(0, one['refused'], (name, one))
            self.assertLess(0, one['requests'], (name, one))
            if name in _SMOOTH:
                self.assertEqual(0, one['failed'], (name, one))
            self.assertLess(one['recovered'], one['lasted'] + SLACK, name)
        self.assertEqual([], lost)
        self.assertLess(10, sum(one['revoked'] for one in found.values()))


_FAR = {'regions': 3, 'rtt': 100, 'database': 'galera'}
_NAMESPACES = testtools.skipIf(os.geteuid(), 'network namespaces require root')


@_NAMESPACES
class FarGaleraFaultTests(_Faults, testtools.TestCase):
    """Each region has a node, a memcached and a Galera server."""

    layout = {**_FAR, 'cache': 'per-node'}

    def test_one_fault_of_each_kind(self):
        self.check(
            'worker killed', 'node drained, killed', 'HAProxy reloaded',
            'memcached killed', 'Galera node killed',
        )  # fmt: skip


@_NAMESPACES
class FarRingFaultTests(_Faults, testtools.TestCase):
    """The regions share a ring of memcached servers."""

    layout = {**_FAR, 'cache': 'ring'}

    def test_faults(self):
        self.check()


class SharedCacheFaultTests(_Faults, testtools.TestCase):
    """One region with one memcached."""

    def test_faults(self):
        self.check()

    def test_rolling_upgrade_with_default_settings(self):
        for kind in ('stock', 'patched'):
            self.check('rolling upgrade', kind=kind, defaults=True)


@_NAMESPACES
class ShortFaultTests(_Faults, testtools.TestCase):
    """One fault of each kind, with a node and a memcached in each region."""

    layout = {'regions': 3, 'rtt': 100, 'cache': 'per-node'}
    # On a busy machine, distant nodes take seconds to reconnect.
    seconds = 3 * SECONDS

    def test_one_fault_of_each_kind(self):
        self.check(
            'node killed', 'HAProxy reloaded', 'clock +90 s',
            'memcached restored', 'database restarted',
        )  # fmt: skip


class RingFaultTests(_Faults, testtools.TestCase):
    """One region with a ring of memcached servers, on PostgreSQL."""

    layout = {'cache': 'ring', 'database': 'postgresql'}

    def test_faults(self):
        self.check()


class PerNodeFaultTests(_Faults, testtools.TestCase):
    """One region with one memcached for each node."""

    layout = {'cache': 'per-node'}

    def test_faults(self):
        self.check()

    def test_stock_would_not_pass(self):
        # Shows that the other tests can fail.
        found, lost = self.inject('node killed', kind='stock')
        self.assertLess(0, found['node killed']['accepted'] + len(lost))
