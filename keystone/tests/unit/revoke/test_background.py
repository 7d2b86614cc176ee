# SPDX-License-Identifier: Apache-2.0

import gc
import queue
from unittest import mock
import weakref

from dogpile.cache import region as dogpile_region
import fixtures
from oslo_db import exception as db_exception
from oslo_log import log

from keystone.common import cache
from keystone.common.cache import _context_cache
from keystone.common import counters
from keystone.revoke import background
from keystone.tests.unit.revoke import replica_base


class RefreshTests(replica_base.ReplicaTestCase):
    """Reading between checks, so that they do not have to wait."""

    def setUp(self):
        super().setUp()
        self.config(group='revoke', sync_interval=10)
        self.events = self.replica()
        self.assertValid(self.events, user_id='a')

    def refresh(self, *pauses):
        """Refresh after each pause, as the thread does."""
        for seconds in pauses:
            self.clock.tick(seconds)
            self.events.refresh()

    def assertRevokedWithoutQuery(self, **values):
        statements = self.statements()
        self.assertRevoked(self.events, **values)
        self.assertEqual([], statements)

    def test_checks_find_what_was_read(self):
        self.write(user_id='a')

        self.assertEqual(5, self.events.refresh())
        self.refresh(5)

        self.clock.tick(9)
        self.assertRevokedWithoutQuery(user_id='a')

    def test_bound_holds_after_refreshing(self):
        self.refresh(5)
        self.write(user_id='a')
        self.clock.tick(10)
        self.assertRevoked(self.events, user_id='a')

    def test_announced_row_is_read_by_the_check(self):
        self.refresh(5)
        self.revoke(user_id='a')
        self.assertRevoked(self.events, user_id='a')

    def test_row_committed_late_is_found_within_the_bound(self):
        begun = self.clock.utcnow
        late = self.revoke(user_id='before') + 1
        self.revoke(id=late + 1, user_id='meanwhile')
        self.assertRevoked(self.events, user_id='meanwhile')
        self.refresh(*[5] * 20)
        self.write(
            id=late, revoked_at=begun, issued_before=begun, user_id='late'
        )

        self.refresh(5, 5)

        issued_at = begun.replace(hour=begun.hour - 1)
        self.assertRevokedWithoutQuery(user_id='late', issued_at=issued_at)

    def test_each_refresh_looks_for_rows_committed_late(self):
        self.clock.delay = 0.01
        self.refresh(5)
        self.clock.delay = 0
        self.clock.tick(self.events.refresh())
        statements = self.statements()

        self.events.refresh()

        self.assertIn('count(', statements[0])

    def test_nothing_is_kept_between_checks(self):
        self.assertIsNone(self.replica().refresh())
        alone = self.replica(cache=None)
        self.assertValid(alone, user_id='a')
        self.assertIsNone(alone.refresh())
        self.config(group='revoke', sync_interval=0)
        self.assertIsNone(self.events.refresh())

    def test_ends_after_the_last_check(self):
        self.refresh(*[5] * 60)
        self.assertIsNotNone(self.events.refresh())
        self.assertIsNotNone(self.events.view_in_step(self.cache.id))
        self.refresh(*[5] * 60)
        self.assertIsNotNone(self.events.refresh())
        self.clock.tick(1)
        self.assertIsNone(self.events.refresh())

    def test_failing_database(self):
        self.take_away()
        self.addCleanup(self.bring_back)
        self.clock.tick(5)
        self.assertRaises(db_exception.DBError, self.events.refresh)
        self.assertValid(self.events, user_id='a')
        self.clock.tick(5)
        self.assertRaises(db_exception.DBError, self.events.refresh)


class LocalDatabaseTests(replica_base.ReplicaTestCase):
    def test_no_thread(self):
        self.assertTrue(background.is_local())
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.assertIsNone(events.background.thread)

    def test_no_database(self):
        for error in (
            db_exception.CantStartEngineError('of the test'),
            db_exception.DBConnectionError(),
        ):
            engine = mock.Mock(side_effect=error)
            self.useFixture(
                fixtures.MonkeyPatch(
                    'keystone.revoke.backends.incremental.engine', engine
                )
            )
            self.assertTrue(background.is_local())


class BackgroundSyncTests(replica_base.ReplicaTestCase):
    """The thread that refreshes."""

    def setUp(self):
        super().setUp()
        replica_base.use_threads(self)
        self.log = self.useFixture(fixtures.FakeLogger(level=log.DEBUG))
        #: what the thread waits for, instead of some seconds
        self.pauses = queue.Queue()
        self.waiting = queue.Queue()
        self.events = self.replica()
        self.background = background.BackgroundSync(self.events, self.sleep)
        self.events.background = self.background
        self.addCleanup(self.end)

    def sleep(self, seconds):
        self.waiting.put(seconds)
        self.pauses.get()

    def end(self):
        self.events = None
        gc.collect()
        self.pauses.put(None)

    def test_begins_with_the_first_check(self):
        self.assertTrue(self.waiting.empty())
        self.assertValid(self.events, user_id='a')
        self.assertEqual(5, self.waiting.get(timeout=60))

        self.write(user_id='a')
        self.clock.tick(5)
        self.pauses.put(None)
        self.assertEqual(5, self.waiting.get(timeout=60))

        statements = self.statements()
        self.assertRevoked(self.events, user_id='a')
        self.assertEqual([], statements)

    def test_stamp_is_read_each_time(self):
        region = dogpile_region.make_region()
        region.configure('dogpile.cache.memory')
        region.wrap(_context_cache._ResponseCacheProxy)
        manager = cache.RegionInvalidationManager(region, 'revoke')
        stamps = []

        def read():
            stamps.append(manager.region_id)
            return stamps[-1]

        self.events._stamp.read = read
        self.assertValid(self.events, user_id='a')
        self.waiting.get(timeout=60)
        for _ in range(2):
            manager.invalidate_region()
            self.clock.tick(5)
            self.pauses.put(None)
            self.waiting.get(timeout=60)
            self.assertEqual(manager.region_id, stamps[-1])

    def test_counters(self):
        reports = queue.Queue()
        counters.report_to(reports.put)
        self.addCleanup(counters.report_to, None)
        self.assertValid(self.events, user_id='a')
        self.waiting.get(timeout=60)
        self.assertEqual({}, reports.get(timeout=60))
        self.clock.tick(5)
        self.pauses.put(None)

        name = 'revocation events'
        self.assertEqual(
            {(name, 'sync'): 1, (name, 'rows'): 0}, reports.get(timeout=60)
        )

    def test_one_thread(self):
        for _ in range(3):
            self.revoke(user_id='a')
            self.assertRevoked(self.events, user_id='a')
        self.waiting.get(timeout=60)
        self.assertTrue(self.waiting.empty())

    def test_ends_with_the_replica(self):
        self.assertValid(self.events, user_id='a')
        self.waiting.get(timeout=60)
        replica = weakref.ref(self.events)
        self.events = None
        gc.collect()
        self.assertIsNone(replica())

        self.pauses.put(None)

        self.background.thread.join(60)
        self.assertFalse(self.background.thread.is_alive())

    def test_goes_on_after_a_failure(self):
        self.assertValid(self.events, user_id='a')
        self.waiting.get(timeout=60)
        self.take_away()
        self.clock.tick(5)
        self.pauses.put(None)
        self.assertEqual(1, self.waiting.get(timeout=60))
        self.assertIn('Failed to read revocation events', self.log.output)

        self.bring_back()
        self.pauses.put(None)

        self.assertEqual(5, self.waiting.get(timeout=60))

    def test_not_while_there_are_too_many_rows(self):
        self.assertValid(self.events, user_id='a')
        self.waiting.get(timeout=60)
        self.config(group='revoke', max_events_in_memory=1)
        for user_id in ('a', 'b'):
            self.revoke(user_id=user_id)
        self.assertRevoked(self.events, user_id='a')
        self.pauses.put(None)
        thread = self.background.thread
        thread.join(60)

        self.assertRevoked(self.events, user_id='a')

        self.assertIs(thread, self.background.thread)

    def test_not_without_a_shared_cache(self):
        alone = self.replica(cache=None)
        self.assertValid(alone, user_id='a')
        self.assertIsNone(alone.background.thread)

    def test_where_no_thread_can_be_started(self):
        def fail(*_):
            raise RuntimeError("can't start new thread")

        self.useFixture(fixtures.MonkeyPatch('threading.Thread.start', fail))
        self.assertValid(self.events, user_id='a')
        self.write(user_id='a')
        self.clock.tick(10)
        self.assertRevoked(self.events, user_id='a')
