# SPDX-License-Identifier: Apache-2.0

import datetime
import sqlite3
import threading

import fixtures
from oslo_db import exception as db_exception
from oslo_log import log
from oslo_utils import timeutils
import sqlalchemy

from keystone.common import cache
from keystone.common.cache import counters
from keystone.common import provider_api
from keystone.common import sql
from keystone.models import revoke_model
from keystone.revoke.backends import base as backends
from keystone.revoke.backends import sql as revoke_sql
from keystone.revoke import interval_lock
from keystone.revoke import pruning
from keystone.tests.unit.revoke import base
from keystone.tests.unit.revoke import replica_base
from keystone.tests.unit.revoke import test_background

PROVIDERS = provider_api.ProviderAPIs

SECOND = datetime.timedelta(seconds=1)


class PruneTestCase(replica_base.ReplicaTestCase):
    def setUp(self):
        super().setUp()
        self.cutoff = backends.revoked_before_cutoff_time()

    def expired(self, number, first=1):
        """Write rows that expired 1, 2, 3, … seconds ago."""
        rows = [
            {
                'user_id': f'expired {age}',
                'issued_before': self.cutoff,
                'revoked_at': self.cutoff - age * SECOND,
            }
            for age in range(first, first + number)
        ]
        with self.engine.begin() as connection:
            connection.execute(self.table.insert(), rows)

    def users(self):
        """The users that the rows name, oldest row first."""
        query = sqlalchemy.select(self.table.c.user_id).order_by(
            self.table.c.revoked_at
        )
        with self.engine.connect() as connection:
            return list(connection.scalars(query))

    def locked(self):
        """Connection of another process, which is writing."""
        other = sqlite3.connect(self.engine.url.database)
        self.addCleanup(other.close)
        other.execute('BEGIN IMMEDIATE')
        return other


class PruneTests(PruneTestCase):
    """One batch."""

    def test_revoking_deletes_nothing(self):
        self.expired(3)
        event = revoke_model.RevokeEvent(user_id='new')

        self.driver.revoke(event)

        self.assertEqual(
            ['expired 3', 'expired 2', 'expired 1', 'new'], self.users()
        )

    def test_only_what_has_expired(self):
        self.expired(2)
        self.write(user_id='at the cutoff', revoked_at=self.cutoff)
        self.write(user_id='new')

        batch = self.driver.prune_events(self.cutoff, 100)

        self.assertEqual(
            (2, 2, self.cutoff - SECOND, None), tuple(batch), batch
        )
        self.assertEqual(['at the cutoff', 'new'], self.users())

    def test_the_oldest_first(self):
        self.expired(5)

        batch = self.driver.prune_events(self.cutoff, 3)

        self.assertEqual(
            (3, 3, self.cutoff - 3 * SECOND, None), tuple(batch), batch
        )
        self.assertEqual(['expired 2', 'expired 1'], self.users())

    def test_from_where_the_last_one_ended(self):
        self.expired(5)

        batch = self.driver.prune_events(
            self.cutoff, 2, self.cutoff - 3 * SECOND
        )

        self.assertEqual(2, batch.deleted)
        self.assertEqual(self.cutoff - 2 * SECOND, batch.last)
        self.assertEqual(['expired 5', 'expired 4', 'expired 1'], self.users())

    def test_several_of_one_moment(self):
        for _ in range(3):
            self.expired(2)
        since = None

        for _ in range(3):
            since = self.driver.prune_events(self.cutoff, 2, since).last

        self.assertEqual([], self.users())

    def test_nothing_to_delete(self):
        self.write(user_id='new')

        batch = self.driver.prune_events(self.cutoff, 100)

        self.assertEqual((0, 0, None, None), tuple(batch))

    def test_gives_up_where_others_hold_locks(self):
        self.expired(3)
        other = self.locked()

        batch = self.driver.prune_events(self.cutoff, 100)

        self.assertEqual((0, 0, None), tuple(batch)[:3])
        self.assertIn('database is locked', batch.given_up)
        other.rollback()
        self.assertEqual(3, self.driver.prune_events(self.cutoff, 100).deleted)

    def test_gives_up_where_another_node_was_faster(self):
        # A Galera cluster says so at the end; this is MariaDB's answer.
        failure = sqlalchemy.exc.OperationalError(
            'COMMIT', None, Exception(1180, 'Got error 1 during COMMIT')
        )

        class Node(revoke_sql.Revoke):
            def _prune(self, *args):
                super()._prune(*args)
                raise failure

        self.expired(3)

        batch = Node().prune_events(self.cutoff, 100)

        self.assertEqual((0, 0, None), tuple(batch)[:3])
        self.assertIn('1180', batch.given_up)
        self.assertEqual(3, self.driver.prune_events(self.cutoff, 100).deleted)

    def test_other_users_of_the_connection_wait_as_before(self):
        def patience():
            with self.engine.connect() as connection:
                return connection.exec_driver_sql(
                    'PRAGMA busy_timeout'
                ).scalar()

        usual = patience()
        self.expired(1)
        self.driver.prune_events(self.cutoff, 100)
        self.assertEqual(usual, patience())

        self.expired(1)
        self.locked()
        self.assertIsNotNone(
            self.driver.prune_events(self.cutoff, 100).given_up
        )
        self.assertEqual(usual, patience())

    def test_other_failures_are_raised(self):
        self.take_away()
        self.addCleanup(self.bring_back)

        self.assertRaises(
            db_exception.DBError, self.driver.prune_events, self.cutoff, 100
        )

    def test_span_of_events(self):
        self.assertEqual((None, None), self.driver.span_of_events())
        self.expired(3)
        self.write(user_id='new')

        self.assertEqual(
            (self.cutoff - 3 * SECOND, replica_base.NOW),
            self.driver.span_of_events(),
        )


class AfterRevocationTests(PruneTestCase):
    """What the service deletes after its revocations."""

    def setUp(self):
        super().setUp()
        self.config(group='revoke', prune_interval=10)
        self.log = self.useFixture(fixtures.FakeLogger(level=log.WARNING))
        self.pruning = self.worker()

    def worker(self):
        """The pruning of one more process that shares no cache."""
        self.config(group='cache', enabled=False)
        worker = pruning.AfterRevocation()
        worker._lock = interval_lock.IntervalLock('test', clock=self.clock)
        return worker

    def test_one_batch_in_an_interval(self):
        self.expired(pruning.BATCH + 20)

        for _ in range(5):
            self.pruning.run(self.driver)
        self.assertEqual(20, len(self.users()))

        self.clock.tick(9)
        self.pruning.run(self.driver)
        self.assertEqual(20, len(self.users()))

        self.clock.tick(1)
        self.pruning.run(self.driver)
        self.assertEqual(0, len(self.users()))
        self.assertEqual(
            {'batches': 2, 'deleted': pruning.BATCH + 20}, self.pruning.counts
        )

    def test_counters_of_a_request(self):
        self.addCleanup(counters.end)
        self.expired(3)
        counters.begin()
        self.pruning.run(self.driver)
        self.pruning.run(self.driver)
        self.assertEqual(
            {
                ('revocation_prune', 'batches'): 1,
                ('revocation_prune', 'deleted'): 3,
            },
            counters.end(),
        )

        self.clock.tick(10)
        self.take_away()
        self.addCleanup(self.bring_back)
        counters.begin()
        self.pruning.run(self.driver)
        self.assertEqual({('revocation_prune', 'failed'): 1}, counters.end())

    def test_what_was_left_out_is_deleted_in_the_end(self):
        self.expired(2 * pruning.BATCH)
        self.pruning.run(self.driver)
        # Another process commits late.
        self.expired(1, first=1000)

        for _ in range(3):
            self.clock.tick(10)
            self.pruning.run(self.driver)

        self.assertEqual([], self.users())

    def test_each_process_for_itself_without_a_shared_cache(self):
        self.expired(2 * pruning.BATCH)

        for worker in (self.pruning, self.worker()):
            worker.run(self.driver)
            worker.run(self.driver)

        self.assertEqual([], self.users())

    def test_switched_off(self):
        self.config(group='revoke', prune_interval=0)
        self.expired(1)

        for _ in range(3):
            self.clock.tick(1000)
            self.pruning.run(self.driver)

        self.assertEqual(['expired 1'], self.users())

    def test_revocation_does_not_wait(self):
        self.expired(1)
        may_go_on = threading.Event()
        self.addCleanup(may_go_on.set)

        class Distant(revoke_sql.Revoke):
            def prune_events(self, *args):
                may_go_on.wait(60)
                return super().prune_events(*args)

        test_background.use_threads(self)
        reports = []
        counters.report_to(reports.append)
        self.addCleanup(counters.report_to, None)
        self.pruning.run(Distant())
        self.assertEqual({}, self.pruning.counts)

        may_go_on.set()
        self.pruning.thread.join(60)
        self.assertEqual({'batches': 1, 'deleted': 1}, self.pruning.counts)
        self.assertEqual([], self.users())
        name = 'revocation_prune'
        self.assertEqual(
            [{(name, 'batches'): 1, (name, 'deleted'): 1}], reports
        )

    def test_revocation_waits_where_no_thread_can_be_started(self):
        self.expired(1)
        test_background.use_threads(self)

        def fail(*_):
            raise RuntimeError("can't start new thread")

        with fixtures.MonkeyPatch('threading.Thread.start', fail):
            self.pruning.run(self.driver)

        self.assertEqual([], self.users())

    def test_others_hold_locks(self):
        self.expired(1)
        self.locked()

        self.pruning.run(self.driver)

        self.assertEqual(1, self.pruning.counts['given_up'])
        self.assertEqual('', self.log.output)

    def test_the_database_fails(self):
        self.take_away()
        self.addCleanup(self.bring_back)

        self.pruning.run(self.driver)

        self.assertEqual(1, self.pruning.counts['failed'])
        self.assertIn('Failed to prune revocation events', self.log.output)

    def test_not_in_a_transaction_of_the_caller(self):
        self.expired(1)

        class Failure(Exception):
            pass

        def fail():
            with sql.session_for_write():
                self.pruning.run(self.driver)
                raise Failure

        self.assertRaises(Failure, fail)
        self.assertEqual([], self.users())

    def test_a_transaction_of_the_caller_holds_the_lock(self):
        self.expired(1)

        with sql.session_for_write() as session:
            session.execute(self.table.insert(), self.row('new'))
            self.pruning.run(self.driver)

        self.assertEqual(1, self.pruning.counts['given_up'])
        self.assertEqual(['expired 1', 'new'], self.users())

    def row(self, user_id):
        now = timeutils.utcnow()
        return {'user_id': user_id, 'issued_before': now, 'revoked_at': now}


class MemcachedClient:
    """What the clients of memcached have in common, for one key."""

    def __init__(self):
        self.keys = {}

    def add(self, key, value, seconds):
        if key in self.keys:
            return 0
        self.keys[key] = (value, seconds)
        return 1

    def get(self, key):
        return self.keys.get(key)


class DeadMemcachedClient:
    """As python-memcached answers when no server does."""

    def add(self, key, value, seconds):
        return 0

    def get(self, key):
        return None


class FailingMemcachedClient:
    """As other clients do."""

    def add(self, key, value, seconds):
        raise ConnectionRefusedError


class RedisClient:
    def __init__(self):
        self.keys = {}

    def set(self, key, value, nx, ex):
        if nx and key in self.keys:
            return None
        self.keys[key] = (value, ex)
        return True


class Backend:
    def __init__(self, client):
        self.client = self.writer_client = client


class Region:
    """A cache region that is configured with a backend."""

    is_configured = True

    def __init__(self, client):
        self.actual_backend = Backend(client)


class IntervalLockTests(replica_base.ReplicaTestCase):
    """Which process may."""

    def share(self, backend, client):
        self.config(group='cache', enabled=True, backend=backend)
        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.common.cache.CACHE_INVALIDATION_REGION',
                Region(client),
            )
        )
        return client

    def locks(self, number=3):
        return [
            interval_lock.IntervalLock('test', clock=self.clock)
            for _ in range(number)
        ]

    def acquired(self, locks, interval=10):
        return [lock.acquire(interval) for lock in locks]

    def assertOneOfThree(self, client):
        locks = self.locks()

        self.assertEqual([True, False, False], self.acquired(locks))
        self.assertEqual([False, False, False], self.acquired(locks))
        self.assertEqual({'keystone.test': ('taken', 10)}, client.keys)

        # The cache forgets the key by itself.
        client.keys.clear()
        self.clock.tick(10)
        self.assertEqual([True, False, False], self.acquired(locks))

    def assertEachForItself(self):
        locks = self.locks()

        self.assertEqual([True, True, True], self.acquired(locks))
        self.assertEqual([False, False, False], self.acquired(locks))
        self.clock.tick(10)
        self.assertEqual([True, True, True], self.acquired(locks))

    def test_memcached(self):
        for backend in ('dogpile.cache.memcached', 'oslo_cache.memcache_pool'):
            client = self.share(backend, MemcachedClient())
            self.assertOneOfThree(client)

    def test_counter_of_a_request(self):
        self.addCleanup(counters.end)
        self.share('dogpile.cache.redis', RedisClient())
        locks = self.locks()
        counters.begin()

        self.acquired(locks)
        # Not due again.
        self.acquired(locks)

        self.assertEqual({('test', 'skipped'): 2}, counters.end())

    def test_redis(self):
        client = self.share('dogpile.cache.redis', RedisClient())
        self.assertOneOfThree(client)

    def test_memcached_is_down(self):
        for client in (DeadMemcachedClient(), FailingMemcachedClient()):
            self.share('dogpile.cache.memcached', client)
            self.assertEachForItself()

    def test_no_cache_is_shared(self):
        self.share('dogpile.cache.memory', None)
        self.assertEachForItself()

    def test_no_cache_at_all(self):
        self.config(group='cache', enabled=False)
        self.assertEachForItself()

    def test_the_cache_is_not_configured(self):
        self.config(group='cache', enabled=True)
        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.common.cache.CACHE_INVALIDATION_REGION',
                cache.create_region('not configured'),
            )
        )
        self.assertEachForItself()

    def test_an_interval_that_memcached_would_take_for_a_date(self):
        client = self.share('dogpile.cache.memcached', MemcachedClient())
        (one,) = self.locks(1)

        self.assertTrue(one.acquire(10**9))

        ((_value, seconds),) = client.keys.values()
        self.assertEqual(30 * 24 * 60 * 60, seconds)


class ManagerTests(base.TokenTestCase):
    """The manager prunes when an event is recorded, and only then."""

    def setUp(self):
        super().setUp()
        self.config_fixture.config(group='revoke', prune_interval=1)
        self.manager = PROVIDERS.revoke_api
        self.manager.pruning = pruning.AfterRevocation()

    def test_expired_events_are_deleted(self):
        old = timeutils.utcnow() - datetime.timedelta(days=365)
        event = revoke_model.RevokeEvent(user_id='old', revoked_at=old)
        self.manager.driver.revoke(event)
        self.assertIn('old', self.users())

        self.manager.revoke_by_user('new')

        self.assertEqual(['new'], self.users())

    def users(self):
        return [event.user_id for event in self.manager.driver.list_events()]

    def test_a_revocation_succeeds_whatever_pruning_does(self):
        for failure in (db_exception.DBError, RuntimeError, MemoryError):

            def fail(*args, failure=failure):
                raise failure('of the test')

            self.useFixture(
                fixtures.MonkeyPatch(
                    'keystone.revoke.backends.sql.Revoke.prune_events', fail
                )
            )
            self.manager.pruning = pruning.AfterRevocation()
            token = self.issue()

            PROVIDERS.token_provider_api.revoke_token(token.id)

            self.assertRevoked(token)
            self.assertEqual(1, self.manager.pruning.counts['failed'])

    def test_a_driver_of_another_vendor_is_left_alone(self):
        calls = []

        class Driver(backends.RevokeDriverBase):
            def list_events(self, last_fetch=None, token=None):
                return []

            def revoke(self, event):
                calls.append(event)

            def prune_events(self, *args):
                raise AssertionError

        self.addCleanup(setattr, self.manager, 'driver', self.manager.driver)
        self.manager.driver = Driver()

        self.manager.revoke_by_user('a')

        self.assertEqual(1, len(calls))
        self.assertEqual({}, self.manager.pruning.counts)
