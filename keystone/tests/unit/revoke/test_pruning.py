# SPDX-License-Identifier: Apache-2.0

import datetime
import threading

import fixtures
from oslo_db import exception as db_exception
from oslo_log import log
from oslo_utils import timeutils

from keystone.common import counters
from keystone.common import provider_api
from keystone.common import sql
from keystone.models import revoke_model
from keystone.revoke.backends import base as backends
from keystone.revoke.backends import sql as revoke_sql
from keystone.revoke import pruning
from keystone.tests.unit.revoke import base
from keystone.tests.unit.revoke import prune_base
from keystone.tests.unit.revoke import replica_base

PROVIDERS = provider_api.ProviderAPIs


class AfterRevocationTests(prune_base.PruneTestCase):
    """What the service deletes after its revocations."""

    def setUp(self):
        super().setUp()
        self.config(group='revoke', prune_interval=10)
        self.log = self.useFixture(fixtures.FakeLogger(level=log.WARNING))
        self.pruning = self.worker()

    def worker(self):
        """The pruning of one more process that shares no cache."""
        self.config(group='cache', enabled=False)
        return pruning.AfterRevocation(self.clock)

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
        reports = []
        counters.report_to(reports.append)
        self.addCleanup(counters.report_to, None)
        self.expired(3)
        with counters.counting():
            self.pruning.run(self.driver)
            self.pruning.run(self.driver)
        self.assertEqual(
            {
                ('revocation_prune', 'batches'): 1,
                ('revocation_prune', 'deleted'): 3,
            },
            reports.pop(),
        )

        self.clock.tick(10)
        self.take_away()
        self.addCleanup(self.bring_back)
        with counters.counting():
            self.pruning.run(self.driver)
        self.assertEqual([{('revocation_prune', 'failed'): 1}], reports)

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

        replica_base.use_threads(self)
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
        replica_base.use_threads(self)

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
