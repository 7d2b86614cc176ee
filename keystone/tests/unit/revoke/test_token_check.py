# SPDX-License-Identifier: Apache-2.0

import datetime
import secrets
import threading
import uuid

import fixtures
from oslo_context import context as oslo_context
from oslo_log import log

from keystone.common import cache
from keystone.common import counters
from keystone.common import provider_api
import keystone.conf
import keystone.exception
from keystone.models import revoke_model
from keystone.revoke.backends import base as driver_base
from keystone.revoke import core
from keystone.revoke import stamp
from keystone.tests.unit.revoke import base

CONF = keystone.conf.CONF
PROVIDERS = provider_api.ProviderAPIs


class OtherDriver(driver_base.RevokeDriverBase):
    """A driver of a third party, without incremental reads."""

    def __init__(self):
        self.events = []
        self.asked = []

    def list_events(self, last_fetch=None, token=None):
        self.asked.append(token)
        return self.events

    def revoke(self, event):
        self.events.append(event)


class TokenCheckTests(base.TokenTestCase):
    """Which way the manager checks a token."""

    def setUp(self):
        super().setUp()
        self.manager = PROVIDERS.revoke_api
        self.log = self.useFixture(fixtures.FakeLogger(level=log.INFO))
        values = revoke_model.blank_token_data(self.expiry(0))
        self.values = {**values, 'user_id': uuid.uuid4().hex}

    def use(self, driver):
        self.addCleanup(setattr, self.manager, 'driver', self.manager.driver)
        self.manager.driver = driver
        return driver

    def no_list(self, *args, **kwargs):
        self.fail('this read was not to be')

    def assertUserRevoked(self):
        self.assertRaises(
            keystone.exception.TokenNotFound,
            self.manager.check_token,
            self.values,
        )

    def test_sql_driver_is_not_asked_for_each_token(self):
        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.revoke.backends.sql.Revoke.list_events', self.no_list
            )
        )
        self.manager.check_token(self.values)
        self.manager.revoke_by_user(self.values['user_id'])
        self.assertUserRevoked()

    def test_no_events_in_memory_takes_the_indexed_query(self):
        self.config_fixture.config(group='revoke', max_events_in_memory=0)
        for name in ('read_events', 'list_events'):
            self.useFixture(
                fixtures.MonkeyPatch(
                    f'keystone.revoke.backends.sql.Revoke.{name}', self.no_list
                )
            )
        self.manager.check_token(self.values)
        self.manager.revoke_by_user(self.values['user_id'])
        self.assertUserRevoked()

    def test_counter_of_a_request_without_events_in_memory(self):
        reports = []
        counters.report_to(reports.append)
        self.addCleanup(counters.report_to, None)
        self.config_fixture.config(group='revoke', max_events_in_memory=0)
        with counters.counting():
            self.manager.check_token(self.values)
        (found,) = reports
        self.assertEqual(1, found['revocation events', 'queried'])

    def test_switch_works_both_ways_without_a_restart(self):
        for most in (1000, 0, 1000):
            self.config_fixture.config(
                group='revoke', max_events_in_memory=most
            )
            self.manager.check_token(self.values)
        self.config_fixture.config(group='revoke', max_events_in_memory=0)
        self.manager.revoke_by_user(self.values['user_id'])
        for most in (1000, 0, 1000):
            self.config_fixture.config(
                group='revoke', max_events_in_memory=most
            )
            self.assertUserRevoked()

    def test_driver_without_incremental_read_is_asked_for_each_token(self):
        driver = self.use(OtherDriver())

        self.manager.check_token(self.values)
        self.manager.check_token(self.values)
        self.manager.revoke_by_user(self.values['user_id'])

        self.assertUserRevoked()
        self.assertEqual(3, len(driver.asked))
        self.assertEqual(1, self.log.output.count('incremental reads'))

    def test_revocation_shows_in_the_list_of_events(self):
        self.manager.revoke_by_user('a')
        self.assertEqual(
            ['a'], [event.user_id for event in self.manager.list_events()]
        )


class SharedStampTests(base.TokenTestCase):
    """The stamp as it stands in the cache."""

    def setUp(self):
        super().setUp()
        # The regions keep the in-process backend they were made with.
        self.config_fixture.config(
            group='cache', backend='dogpile.cache.memcached'
        )
        self.stamp = stamp.SharedStamp(core.REVOKE_REGION)

    def last_row(self):
        return self.stamp.row_of(self.stamp.read())

    def row_elsewhere(self):
        """The last row, as a thread sees it that has not written it."""
        rows = []
        reader = threading.Thread(target=lambda: rows.append(self.last_row()))
        reader.start()
        reader.join()
        return rows[0]

    def test_stamp_stays_until_something_is_revoked(self):
        before = self.stamp.read()
        self.assertEqual(before, self.stamp.read())

        PROVIDERS.revoke_api.revoke_by_user('a')

        self.assertNotEqual(before, self.stamp.read())

    def test_stamp_is_that_of_the_region(self):
        before = self.stamp.read()
        core.REVOKE_REGION.invalidate()
        self.assertNotEqual(before, self.stamp.read())

    def test_last_row(self):
        event = revoke_model.RevokeEvent(user_id='a')
        PROVIDERS.revoke_api.revoke(event)
        row = self.last_row()
        self.assertEqual(event.revoked_at, row.revoked_at)
        self.assertIsInstance(row.id, int)

        PROVIDERS.revoke_api.revoke(event)

        self.assertEqual(row.id + 1, self.last_row().id)

    def test_row_and_stamp_change_in_one_write(self):
        PROVIDERS.revoke_api.revoke_by_user('a')
        before = self.last_row()
        rows = []
        manager = core.REVOKE_REGION.region_invalidator._region_manager
        invalidate = manager.invalidate_region

        def note():
            region_id = invalidate()
            rows.append(self.row_elsewhere())
            return region_id

        self.useFixture(
            fixtures.MockPatchObject(manager, 'invalidate_region', note)
        )

        PROVIDERS.revoke_api.revoke_by_user('b')

        self.assertEqual([before.id + 1], [row.id for row in rows])

    def test_stamp_of_an_earlier_release_tells_no_row(self):
        PROVIDERS.revoke_api.revoke_by_user('a')
        before = self.stamp.read()
        stock = cache.RegionInvalidationManager(
            cache.CACHE_INVALIDATION_REGION, core.REVOKE_REGION.name
        )
        stock._generate_new_id = lambda: secrets.token_bytes(10)

        stock.invalidate_region()

        oslo_context.RequestContext(overwrite=True)
        self.assertNotEqual(before, self.stamp.read())
        self.assertIsNone(self.last_row())

    def test_nothing_is_known_of_the_last_row_after_a_flush(self):
        PROVIDERS.revoke_api.revoke_by_user('a')
        manager = cache.RegionInvalidationManager(None, 'revoke')
        cache.CACHE_INVALIDATION_REGION.delete(manager._region_key)
        self.assertIsNone(self.row_elsewhere())

    def test_rows_of_two_threads(self):
        rows = []
        noted = threading.Barrier(2)

        def revoke(number):
            row = stamp.Row(number, datetime.datetime(2026, 1, 1))
            self.stamp.note_row(row)
            noted.wait()
            manager = core.REVOKE_REGION.region_invalidator._region_manager
            rows.append(self.stamp.row_of(manager.invalidate_region()))

        threads = [
            threading.Thread(target=revoke, args=(number,))
            for number in (1, 2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        self.assertEqual([1, 2], sorted(row.id for row in rows))

    def test_no_stamp_where_the_cache_is_not_shared(self):
        for backend, enabled in (
            ('dogpile.cache.memory', True),
            ('dogpile.cache.null', True),
            ('oslo_cache.dict', True),
            ('dogpile.cache.memcached', False),
        ):
            self.config_fixture.config(
                group='cache', backend=backend, enabled=enabled
            )
            self.assertFalse(self.stamp.is_shared)
            self.assertIsNone(self.stamp.read())
            self.assertIsNone(self.last_row())

    def test_failing_cache_equals_no_stamp(self):
        def fail(*args, **kwargs):
            raise ConnectionError

        # One that no other test uses: what fails is left alone for a while.
        region = cache.CACHE_INVALIDATION_REGION
        self.addCleanup(vars(region).update, vars(region).copy())
        del region.backend
        region.configure('dogpile.cache.memory')
        for name in ('get', 'get_multi'):
            self.useFixture(
                fixtures.MonkeyPatch(
                    f'dogpile.cache.backends.memory.MemoryBackend.{name}', fail
                )
            )
        oslo_context.RequestContext(overwrite=True)

        self.assertNotEqual(self.stamp.read(), self.stamp.read())
        self.assertIsNone(self.last_row())
