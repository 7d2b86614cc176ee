# SPDX-License-Identifier: Apache-2.0

"""Where the parts of a cluster stand."""

import testtools

from patchset import errors
from patchset.cluster import layout


class LayoutTestCase(testtools.TestCase):
    def test_nodes_are_dealt_out_to_the_regions(self):
        one = layout.Layout(nodes=5, regions=2)
        self.assertEqual(
            [0, 1, 0, 1, 0], [one.region(number) for number in range(5)]
        )
        self.assertEqual(['node1', 'node2'], one.names[:2])

    def test_groups_of_regions(self):
        one = layout.Layout(nodes=9, regions=9, grouped=True)
        self.assertEqual((1, layout.GROUP_DELAY_SHARE), one.delay_shares)
        within = layout.GROUP_DELAY_SHARE
        for region, other, share in (
            (0, 0, 0), (0, 2, within), (2, 3, 1), (5, 4, within),
        ):  # fmt: skip
            self.assertEqual(share, one.delay_share(region, other))
        self.assertEqual(
            1, layout.Layout(nodes=3, regions=3).delay_share(0, 2)
        )

    def test_caches(self):
        for cache, count, of_second in (
            ('shared', 1, [0]),
            ('ring', layout.RING_SIZE, [0, 1, 2]),
            ('per-node', 4, [1]),
        ):
            one = layout.Layout(nodes=4, cache=cache)
            self.assertEqual(count, one.caches, cache)
            self.assertEqual(of_second, one.caches_of(1), cache)

    def test_a_node_has_the_database_of_its_region(self):
        one = layout.Layout(nodes=6, regions=2, database='galera')
        self.assertEqual(2, one.databases)
        for number in range(6):
            self.assertEqual(one.region(number), one.database_of(number))

    def test_one_region_has_a_whole_galera_cluster(self):
        one = layout.Layout(nodes=4, database='galera')
        self.assertEqual(layout.GALERA_SIZE, one.databases)
        self.assertEqual(
            [0, 1, 2, 0], [one.database_of(number) for number in range(4)]
        )

    def test_kinds(self):
        for kind, stock in (
            ('patched', [False] * 3),
            ('stock', [True] * 3),
            ('mixed', [False, True, False]),
        ):
            one = layout.Layout(kind=kind)
            found = [one.is_stock(number) for number in range(3)]
            self.assertEqual(stock, found, kind)

    def test_what_does_not_go_together(self):
        for wrong in (
            {'nodes': 0},
            {'nodes': 100},
            {'nodes': 2, 'regions': 3},
            {'rtt': 100},
            {'rtt': -1, 'regions': 2},
            {'processes': 0},
            {'nodes': 3, 'regions': 3, 'grouped': True},
        ):
            self.assertRaises(errors.UsageError, layout.Layout, **wrong)
