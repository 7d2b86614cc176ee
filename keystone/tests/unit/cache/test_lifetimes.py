# SPDX-License-Identifier: Apache-2.0

import uuid

from dogpile.cache import api
from dogpile.cache import proxy
from dogpile.cache import region as dogpile_region
from oslo_cache import core as oslo_cache

from keystone.common import cache
from keystone.common.cache import facts
from keystone.common.cache import lifetimes
from keystone.common.cache import request_local
import keystone.conf
from keystone.tests import unit
from keystone.tests.unit.cache import base

CONF = keystone.conf.CONF
MONTH = 30 * 24 * 60 * 60


class OperatorProxy(proxy.ProxyBackend):
    """Stores values in another form, with the methods that stock uses."""

    calls: list = []

    def get(self, key):
        self.calls.append('get')
        value = self.proxied.get(key)
        return value if value is api.NO_VALUE else value[0]

    def set(self, key, value):
        self.calls.append('set')
        self.proxied.set(key, [value])

    def delete(self, key):
        self.calls.append('delete')
        self.proxied.delete(key)


class _Lifetimes:
    """What holds for each client library; a subclass names it."""

    def region(self):
        """A region of another worker process."""
        self._process = self.process()
        return self._process.region

    def memoized(self, group='role', region=None, **kwargs):
        """A function whose values are cached as those of a section are."""
        region = region or self.region()

        @cache.get_memoization_decorator(group, region=region, **kwargs)
        def memoized(text):
            return f'{text} {uuid.uuid4().hex}'

        return memoized

    def expiries(self):
        """Seconds of each value that the server was given, sorted."""
        manager = self._process.manager
        ids = {manager.ids.key(manager.name)}
        items = self.server.items.items()
        never = {time for key, (_, time, *_) in items if key in ids}
        self.assertEqual({0}, never)
        return sorted(time for key, (_, time, *_) in items if key not in ids)

    def test_cache_time_of_the_section(self):
        self.config_fixture.config(group='role', cache_time=42)
        memoized = self.memoized()
        self.assertEqual(memoized('a'), memoized('a'))
        self.assertEqual([42], self.expiries())

    def test_cache_time_of_the_expiration_group(self):
        self.config_fixture.config(group='role', cache_time=42)
        self.config_fixture.config(group='catalog', cache_time=43)
        self.memoized(expiration_group='catalog')('a')
        self.assertEqual([43], self.expiries())

    def test_sections_that_share_a_region(self):
        self.config_fixture.config(group='role', cache_time=42)
        self.config_fixture.config(group='identity', cache_time=44)
        region = self.region()
        outer = self.memoized('identity', region)

        @cache.get_memoization_decorator('role', region=region)
        def inner(text):
            return outer(text)

        inner('a')
        self.assertEqual([42, 44], self.expiries())

    def test_no_cache_time(self):
        self.config_fixture.config(group='cache', expiration_time=77)
        self.memoized()('a')
        self.assertEqual([77], self.expiries())

    def test_changed_without_a_restart(self):
        self.config_fixture.config(group='role', cache_time=42)
        memoized = self.memoized()
        memoized('a')
        self.config_fixture.config(group='role', cache_time=43)
        memoized('b')
        self.assertEqual([42, 43], self.expiries())

    def test_cache_time_0_is_not_for_ever(self):
        self.config_fixture.config(group='token', cache_time=0)
        memoized = self.memoized('token')
        self.assertNotEqual(memoized('a'), memoized('a'))
        self.assertEqual([], self.expiries())

    def test_no_expiry_where_the_operator_wants_none(self):
        self.config_fixture.config(group='role', cache_time=-1)
        memoized = self.memoized()
        self.assertEqual(memoized('a'), memoized('a'))
        self.assertEqual([0], self.expiries())

    def test_memcached_would_take_more_than_a_month_for_a_date(self):
        self.config_fixture.config(group='role', cache_time=MONTH + 1)
        memoized = self.memoized()
        self.assertEqual(memoized('a'), memoized('a'))
        self.assertEqual([MONTH], self.expiries())

    def test_value_that_is_dropped(self):
        memoized = self.memoized()
        before = memoized('a')
        memoized.invalidate('a')
        self.assertNotEqual(before, memoized('a'))

    def test_not_cached(self):
        self.config_fixture.config(group='role', caching=False)
        memoized = self.memoized()
        self.assertNotEqual(memoized('a'), memoized('a'))
        self.assertEqual([], self.expiries())

    def test_expiry_of_the_operator(self):
        self.config_fixture.config(
            group='cache', expiration_time=10, backend_expiration_time=20
        )
        self.config_fixture.config(group='role', cache_time=30)
        self.config_fixture.config(group='identity', cache_time=15)
        region = self.region()
        self.memoized('role', region)('a')
        self.memoized('identity', region)('b')
        self.memoized('catalog', region)('c')
        self.assertEqual([10, 15, 20], self.expiries())

    def test_region_ids_do_not_expire(self):
        # With the operator's expiry they did, on stock.
        self.config_fixture.config(
            group='cache', expiration_time=10, backend_expiration_time=20
        )
        region = self.region()
        region.invalidate()
        self.assertEqual([], self.expiries())

    def test_proxy_of_the_operator(self):
        """It may encrypt values, whose expiry is up to the backend then."""
        self.configure(self.backend, proxies=[f'{__name__}.OperatorProxy'])
        self.config_fixture.config(group='role', cache_time=42)
        memoized = self.memoized()
        OperatorProxy.calls.clear()
        before = memoized('a')
        # A placeholder, and the value.
        self.assertEqual(2, OperatorProxy.calls.count('set'))
        self.assertEqual([0], self.expiries())

        OperatorProxy.calls.clear()
        request_local.begin({})
        with facts.tracing() as trace:
            self.assertEqual(before, memoized('a'))
        self.assertEqual(['get'], OperatorProxy.calls)
        # Values that are read ahead, or compared, do not pass it.
        self.assertFalse(trace.is_complete)

        memoized.invalidate('a')
        self.assertIn('delete', OperatorProxy.calls)
        self.assertNotEqual(before, memoized('a'))


class MemcachedTests(_Lifetimes, base.CacheTestCase):
    backend = 'dogpile.cache.memcached'


class PyMemcacheTests(_Lifetimes, base.CacheTestCase):
    backend = 'dogpile.cache.pymemcache'


class MemcachePoolTests(_Lifetimes, base.CacheTestCase):
    backend = 'oslo_cache.memcache_pool'


class InvalidationRegionTests(base.CacheTestCase):
    def test_no_backend_makes_region_ids_expire(self):
        settings = {
            'cache.oslo.backend': 'dogpile.cache.redis',
            'cache.oslo.expiration_time': 600,
            'cache.oslo.arguments.redis_expiration_time': 600,
            'cache.oslo.arguments.memcached_expire_time': 600,
            'cache.oslo.arguments.valkey_expiration_time': 600,
            'cache.oslo.arguments.expiration_time': 600,
            'cache.oslo.arguments.host': 'localhost',
        }
        lifetimes.without_expiry(settings)
        self.assertEqual(
            {
                'cache.oslo.backend': 'dogpile.cache.redis',
                'cache.oslo.arguments.host': 'localhost',
            },
            settings,
        )

    def test_region_has_no_time_of_its_own(self):
        self.configure('dogpile.cache.memory', expiration_time=600)
        self.assertIsNone(self.process().ids.expiration_time)


class InProcessTests(base.CacheTestCase):
    """Values of backends that live in the process expire as well."""

    def setUp(self):
        super().setUp()
        self.config_fixture.config(group='role', cache_time=42)
        self.config_fixture.config(group='identity', cache_time=100)

    def _memoized(self, backend):
        self.configure(backend)
        self.pass_time(0)
        region = self.process().region
        held = region.actual_backend
        self.held = held.cache if hasattr(held, 'cache') else held._cache

        def memoize(group):
            @cache.get_memoization_decorator(group, region=region)
            def memoized(text):
                return f'{text} {uuid.uuid4().hex}'

            return memoized

        return memoize('role'), memoize('identity')

    def pass_time(self, seconds):
        self.now += seconds
        request_local.begin({})

    def test_expired_value_is_not_used(self):
        for backend in base.IN_PROCESS:
            role, user = self._memoized(backend)
            roles, users = role('a'), user('user')
            self.pass_time(41.9)
            self.assertEqual(roles, role('a'), backend)
            self.assertEqual(users, user('user'), backend)
            self.pass_time(0.2)
            self.assertNotEqual(roles, role('a'), backend)
            self.assertEqual(users, user('user'), backend)

    def test_expired_values_are_dropped(self):
        for backend in base.IN_PROCESS:
            role, user = self._memoized(backend)
            for number in range(50):
                role(str(number))
            user('user')
            self.assertEqual(51, len(self.held), backend)
            self.pass_time(43)
            role('b')
            self.assertEqual(2, len(self.held), backend)


class KeyTests(unit.TestCase):
    """All processes, and other releases, find values by the same keys."""

    def test_keys_hold_no_objects(self):
        keys = []

        def note(key):
            keys.append(key)
            return key

        region = dogpile_region.make_region(
            function_key_generator=(
                oslo_cache.create_region().function_key_generator
            ),
            key_mangler=note,
        ).configure('dogpile.cache.memory')
        memoize = lifetimes.get_memoization_decorator(CONF, region, 'token')

        class Manager:
            @memoize
            def get(self, one):
                return one

        Manager().get('this')

        module = Manager.__module__
        self.assertEqual({f'{module}:get|this'}, set(keys))
