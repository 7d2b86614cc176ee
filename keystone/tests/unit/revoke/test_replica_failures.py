# SPDX-License-Identifier: Apache-2.0

import gc
import weakref

from oslo_db import exception as db_exception

from keystone.revoke.backends import sql as revoke_sql
from keystone.revoke import stamp
from keystone.tests.unit.revoke import replica_base


class FailureTests(replica_base.ReplicaTestCase):
    """The table cannot be read."""

    def assertFailsAtOnce(self, events):
        """Each check fails, until the database is back."""
        self.take_away()
        for _ in range(2):
            self.assertFails(events)
        self.bring_back()

    def test_serves_until_the_bound_and_fails_after_it(self):
        self.revoke(user_id='a')
        events = self.replica()
        self.assertRevoked(events, user_id='a')
        self.take_away()

        self.clock.tick(9)
        self.assertRevoked(events, user_id='a')
        self.assertValid(events, user_id='b')
        self.clock.tick(1)
        for _ in range(2):
            self.assertFails(events)

        self.write_back(user_id='b')
        self.assertRevoked(events, user_id='b')

    def write_back(self, **values):
        self.bring_back()
        self.write(**values)

    def test_first_check_fails(self):
        self.take_away()
        events = self.replica()
        self.assertFails(events)

        self.write_back(user_id='a')

        self.assertRevoked(events, user_id='a')

    def test_fails_at_once_if_a_row_is_known_to_be_missing(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.revoke(user_id='a')

        self.assertFailsAtOnce(events)

    def test_fails_at_once_after_a_local_write(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.write(user_id='a')
        events.written(None)

        self.assertFailsAtOnce(events)

    def test_without_a_bound_it_never_serves(self):
        events = self.replica(cache=None)
        self.assertValid(events, user_id='a')

        self.assertFailsAtOnce(events)

    def test_fails_at_once_if_the_new_stamp_names_no_row(self):
        # A node of an earlier release has written it, or it was lost.
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.write(user_id='a')
        self.cache.id += 1

        self.assertFailsAtOnce(events)

        self.assertRevoked(events, user_id='a')

    def test_fails_at_once_if_another_row_may_be_missing(self):
        named = self.write(user_id='b')
        events = self.replica()
        self.assertRevoked(events, user_id='b')
        # Announced before the row that the stamp names.
        self.revoke(user_id='a')
        self.cache.row = stamp.Row(named, self.clock.utcnow)
        self.cache.id += 1

        self.assertFailsAtOnce(events)

        self.assertRevoked(events, user_id='a')

    def test_fails_at_once_if_the_cache_fails_too(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.write(user_id='a')
        self.cache.id = object()

        self.assertFailsAtOnce(events)

        self.assertRevoked(events, user_id='a')

    def test_failure_keeps_nothing_of_the_request(self):
        class Request:
            pass

        def check(request):
            self.assertFails(self.events, user_id='a')
            return weakref.ref(request)

        self.take_away()
        self.events = self.replica()
        request = check(Request())
        self.bring_back()
        gc.collect()

        self.assertIsNone(request())

    def test_load_that_fails_half_way_loses_nothing(self):
        class HalfWay(revoke_sql.Revoke):
            fails = True

            def read_events(self, since):
                for rows in super().read_events(since):
                    if self.fails:
                        yield rows[:1]
                        raise db_exception.DBConnectionError
                    yield rows

        driver = HalfWay()
        events = self.replica(driver)
        for user_id in ('first', 'second'):
            self.revoke(user_id=user_id)
        self.assertFails(events)

        driver.fails = False

        for user_id in ('first', 'second'):
            self.assertRevoked(events, user_id=user_id)
        self.assertEqual(2, len(events.view.copy))
