# SPDX-License-Identifier: Apache-2.0

import contextlib
import functools
import threading

from keystone.assignment import core as assignment
from keystone.common import cache
from keystone.common.cache import after_write
from keystone.tests.unit.write_order import base
from keystone.token import provider


class Failed(Exception):
    """What a write, or a cache server, has died of."""


class AfterWriteTests(base.WriteOrderTestCase):
    """Regions are invalidated when the write is over."""

    regions = (
        cache.CACHE_REGION,
        assignment.COMPUTED_ASSIGNMENTS_REGION,
        provider.TOKENS_REGION,
    )

    def setUp(self):
        super().setUp()
        self.database = 'old'

    def read(self, region):
        """Ask the database, or the cache if it was asked before."""
        return region.get_or_create('key', lambda: self.database)

    def write(self, region, then=lambda: None):
        """Write too late, after a read that follows the invalidation."""
        region.invalidate()
        self.elsewhere(self.read, region)
        self.database = 'new'
        then()

    def fail(self):
        raise Failed

    def assertNew(self, region):
        self.assertEqual('new', self.elsewhere(self.read, region))

    def test_each_region(self):
        for region in self.regions:
            self.database = 'old'
            after_write.invalidate_again(self.write)(region)
            self.assertNew(region)

    def test_value(self):
        def write(region):
            region.delete('key')
            self.elsewhere(self.read, region)
            self.database = 'new'

        self.read(cache.CACHE_REGION)
        after_write.invalidate_again(write)(cache.CACHE_REGION)
        self.assertNew(cache.CACHE_REGION)

    def test_without_it_the_old_value_stays(self):
        self.write(cache.CACHE_REGION)

        self.assertEqual('old', self.elsewhere(self.read, cache.CACHE_REGION))

    def test_what_the_write_returns_and_takes(self):
        add = after_write.invalidate_again(lambda one, two: one + two)

        self.assertEqual(3, add(1, two=2))

    def test_write_that_raises(self):
        self.assertRaises(
            Failed,
            after_write.invalidate_again(self.write),
            cache.CACHE_REGION,
            then=self.fail,
        )

        self.assertNew(cache.CACHE_REGION)

    def test_write_within_a_write(self):
        write = after_write.invalidate_again(self.write)

        def outer():
            self.database = 'newer'
            write(cache.CACHE_REGION)
            self.assertNew(cache.CACHE_REGION)
            self.database = 'newest'

        after_write.invalidate_again(outer)()

        self.assertEqual(
            'newest', self.elsewhere(self.read, cache.CACHE_REGION)
        )

    def test_write_in_another_thread(self):
        write = threading.Thread(target=self.write, args=(cache.CACHE_REGION,))

        @after_write.invalidate_again
        def start():
            write.start()
            write.join()

        start()

        # That thread's write is not ours to end.
        self.assertEqual('old', self.elsewhere(self.read, cache.CACHE_REGION))

    def invalidated(self, write, error=None):
        """Names of regions, in the order of their invalidation.

        :param error: raised in place of each invalidation after the write
        """
        found = []
        done = []

        def note(name, invalidate):
            found.append(name)
            if done and error:
                raise error
            return invalidate()

        @after_write.invalidate_again
        def write_all():
            write()
            found.clear()
            done.append(True)

        with contextlib.ExitStack() as stack:
            for region in self.regions:
                manager = region.region_invalidator._region_manager
                replaced = self.replaced(
                    manager,
                    'invalidate_region',
                    functools.partial(note, region.name),
                )
                stack.enter_context(replaced)
            if error:
                self.assertRaises(error, write_all)
            else:
                write_all()
        return found

    def test_computed_values_go_after_what_they_are_computed_from(self):
        def write():
            for region in reversed(self.regions):
                region.invalidate()

        self.assertEqual(
            [region.name for region in self.regions], self.invalidated(write)
        )

    def test_nothing_is_invalidated_that_was_not(self):
        self.assertEqual(
            ['tokens'], self.invalidated(provider.TOKENS_REGION.invalidate)
        )
        self.assertEqual([], self.invalidated(lambda: None))

    def test_one_failure_keeps_no_region(self):
        def write():
            for region in self.regions:
                region.invalidate()

        self.assertEqual(
            [region.name for region in self.regions],
            self.invalidated(write, error=Failed),
        )
