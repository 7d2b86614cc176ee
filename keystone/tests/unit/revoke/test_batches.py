# SPDX-License-Identifier: Apache-2.0

from keystone.cmd.revocation import batches
from keystone.revoke.backends import prune
from keystone.tests import unit
from keystone.tests.unit.revoke import replica_base


class Driver:
    """Has moments at which events were recorded; some may be locked."""

    def __init__(self, moments):
        self.moments = sorted(moments)
        self.locked = set()
        self.skipped = set()
        self.calls = []

    def prune_events(self, before, limit, since=None):
        self.calls.append((limit, since))
        seen = [
            moment
            for moment in self.moments
            if moment < before
            and (since is None or moment >= since)
            and moment not in self.skipped
        ][:limit]
        if self.locked.intersection(seen):
            return prune.Batch(0, 0, None, 'locked')
        self.moments = [one for one in self.moments if one not in seen]
        last = seen[-1] if seen else None
        return prune.Batch(len(seen), len(seen), last, None)


class BatchesTests(unit.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.clock = replica_base.Clock()
        self.driver = Driver(range(25))

    def batches(self, before=100, size=10, **kwargs):
        kwargs.setdefault('sleep', self.clock.tick)
        return batches.Batches(
            self.driver, before, size, clock=self.clock, **kwargs
        )

    def deleted(self, run):
        return [batch.deleted for batch in run]

    def test_until_nothing_is_left(self):
        run = self.batches()

        self.assertEqual([10, 10, 5, 0], self.deleted(run))

        self.assertEqual(25, run.deleted)
        self.assertEqual(batches.COMPLETE, run.reason)
        self.assertEqual(
            [(10, None), (10, 9), (10, 19), (10, None)], self.driver.calls
        )

    def test_one_short_batch_from_the_beginning_is_enough(self):
        self.assertEqual([4], self.deleted(self.batches(before=4)))
        self.assertEqual([0], self.deleted(self.batches(before=0)))

    def test_max_rows(self):
        run = self.batches(max_rows=13)

        self.assertEqual([10, 3], self.deleted(run))

        self.assertEqual(batches.MAX_ROWS, run.reason)

    def test_max_time(self):
        run = self.batches(max_time=2, pause=1)

        self.assertEqual([10, 10], self.deleted(run))

        self.assertEqual(batches.MAX_TIME, run.reason)
        self.assertEqual(2, run.seconds)

    def test_a_pause_does_not_outlast_the_time(self):
        run = self.batches(max_time=2, pause=1000)

        self.assertEqual([10], self.deleted(run))

        self.assertEqual(batches.MAX_TIME, run.reason)
        self.assertEqual(2, round(run.seconds, 6))

    def test_interrupted(self):
        run = self.batches(pause=1000)
        found = []
        for batch in run:
            found.append(batch.deleted)
            run.interrupt()

        self.assertEqual([10], found)
        self.assertEqual(batches.INTERRUPTED, run.reason)
        self.assertEqual(0, run.seconds)

    def test_interrupted_during_a_pause(self):
        def sleep(seconds):
            self.clock.tick(seconds)
            if self.clock.now >= 1003:
                run.interrupt()

        run = self.batches(pause=1000, sleep=sleep)

        self.assertEqual([10], self.deleted(run))
        self.assertEqual(batches.INTERRUPTED, run.reason)
        self.assertEqual(3, round(run.seconds))

    def test_what_others_hold_is_tried_again(self):
        self.driver.locked.add(12)

        def sleep(seconds):
            self.clock.tick(seconds)
            if self.clock.now >= 1001:
                self.driver.locked.clear()

        run = self.batches(sleep=sleep)

        self.assertEqual(25, sum(self.deleted(run)))
        self.assertEqual(batches.COMPLETE, run.reason)
        self.assertLess(1, run.given_up)

    def test_what_others_hold_on_to_is_given_up(self):
        self.driver.locked.add(12)
        run = self.batches()

        self.assertEqual(10, sum(self.deleted(run)))

        self.assertEqual(batches.GIVEN_UP, run.reason)
        self.assertEqual(10, run.given_up)

    def test_what_was_skipped_is_taken_in_the_end(self):
        self.driver.skipped.update(range(3))
        run = self.batches()
        found = []
        for batch in run:
            found.append(batch.deleted)
            if len(found) == 2:
                self.driver.skipped.clear()

        self.assertEqual([10, 10, 2, 3], found)
        self.assertEqual([], self.driver.moments)
