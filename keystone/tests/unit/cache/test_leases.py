# SPDX-License-Identifier: Apache-2.0

"""A value that was read before a change is not stored after it."""

from keystone.common.cache import after_write
from keystone.common.cache import facts
from keystone.common.cache import regions
from keystone.common.cache import stores
from keystone.tests.unit.cache import base


class _Leases:
    """What holds for each client library; a subclass names it."""

    def change(self, process):
        self.write('new')
        process.drop()

    def test_value_that_is_stored(self):
        one, other = self.process(), self.process()
        self.assertEqual('old', one.read())
        self.write('new')
        self.assertEqual(['old'] * 2, [one.read(), other.read()])

    def test_dropped_while_it_is_read(self):
        one, other = self.process(), self.process()
        self.after_read.append(lambda: self.change(other))
        self.assertEqual('old', one.read())
        self.assertEqual('new', one.read())
        self.assertEqual('new', other.read())

    def test_dropped_and_read_again_while_it_is_read(self):
        one, other = self.process(), self.process()

        def change_and_read():
            self.change(other)
            self.assertEqual('new', other.read())

        self.after_read.append(change_and_read)
        one.read()
        self.assertEqual('new', one.read())
        self.database.clear()
        self.assertEqual(['new'] * 2, [one.read(), other.read()])

    def test_read_by_two(self):
        one, other = self.process(), self.process()
        self.after_read.append(lambda: self.assertEqual('old', other.read()))
        self.assertEqual('old', one.read())
        # The one that was first has stored it.
        self.write('new')
        self.assertEqual(['old'] * 2, [one.read(), other.read()])

    def test_read_that_fails(self):
        one, other = self.process(), self.process()
        self.assertRaises(LookupError, one.read, 'later')
        self.database['later'] = 'old'
        self.assertEqual('old', other.read('later'))
        # It was stored, since the lease has ended with the error.
        self.database['later'] = 'new'
        self.assertEqual('old', one.read('later'))

    def test_region_invalidated_while_it_is_read(self):
        one, other = self.process(), self.process()

        def change():
            self.write('new')
            other.invalidate()

        self.after_read.append(change)
        one.read()
        self.assertEqual(['new'] * 2, [one.read(), other.read()])

    def test_set_past_a_lease(self):
        # What a manager says after a write may be late as well.
        one, other = self.process(), self.process()
        one.read()
        self.write('new')
        other.begin()
        other.memoized.set('older', 'key')
        self.assertEqual(['new'] * 2, [one.read(), other.read()])

    def test_set_past_an_unused_lease(self):
        one, other = self.process(), self.process()
        self.assertRaises(LookupError, one.read, 'later')
        self.database['later'] = 'old'
        other.drop('later')
        self.assertEqual('old', other.read('later'))
        self.assertEqual('old', one.read('later'))
        self.database['later'] = 'new'
        one.begin()
        one.memoized.set('new', 'later')
        self.assertEqual('new', other.read('later'))

    def test_set_past_a_dropped_lease(self):
        one, other = self.process(), self.process()
        self.assertRaises(LookupError, one.read, 'later')
        one.drop('later')
        self.database['later'] = 'old'
        self.assertEqual('old', other.read('later'))
        self.database['later'] = 'new'
        one.begin()
        one.memoized.set('new', 'later')
        self.assertEqual('new', other.read('later'))

    def test_changed_by_an_id_in_upper_case(self):
        """Some databases find it."""
        one, other = self.process(), self.process()
        for change, new in (
            (lambda key: other.drop(key), 'new'),
            (lambda key: other.memoized.set('newer', key), 'newer'),
        ):
            one.read()
            self.write(new)
            change('KEY')
            self.assertEqual(new, one.read())

    def test_value_of_another_release(self):
        one = self.process()
        one.begin()
        generate = one.region.function_key_generator
        original = one.memoized.original
        key = one.region.key_mangler(generate(None, original)('key'))
        self.assertEqual('old', one.read())
        (stored,) = stores.of(one.region).get_many([key])
        self.assertEqual('old', regions.unpack(one.region, stored).payload)

    def test_fact(self):
        one, other = self.process(), self.process()
        with facts.tracing() as first:
            one.read()
        self.assertTrue(first.is_complete)
        with facts.tracing() as second:
            other.read()
        self.assertEqual(first.facts.keys(), second.facts.keys())
        self.assertEqual(first.fingerprints, second.fingerprints)
        self.change(other)
        with facts.tracing() as third:
            one.read()
        self.assertEqual(first.facts.keys(), third.facts.keys())
        self.assertNotEqual(first.facts, third.facts)

    def test_facts_of_values_read_together(self):
        one = self.process()
        one.read()
        with facts.tracing() as alone:
            one.read()
        generate = one.region.function_key_generator
        key = generate(None, one.memoized.original)('key')
        one.begin()
        with facts.tracing() as together:
            self.assertEqual(['old'], one.region.get_multi([key]))
        self.assertEqual(alone.facts, together.facts)

    def test_no_fact_where_nothing_was_stored(self):
        one, other = self.process(), self.process()
        self.after_read.append(lambda: self.change(other))
        with facts.tracing() as trace:
            one.read()
        self.assertFalse(trace.is_complete)

    def test_dropped_within_a_write(self):
        """What a write has dropped at its beginning is dropped at its end."""
        one, other = self.process(), self.process()

        @after_write.invalidate_again
        def write():
            one.memoized.invalidate('key')
            self.assertEqual('old', other.read())
            self.write('new')

        one.begin()
        write()
        self.assertEqual('new', other.read())

    def invalidate_and_cache_old(self, process):
        """In another request: the old value has a key with a new id."""
        self.in_thread(process.invalidate)
        self.assertEqual('old', self.in_thread(process.read))

    def test_region_invalidated_before_a_value_is_dropped(self):
        one, other = self.process(), self.process()
        self.assertEqual('old', one.read())
        self.invalidate_and_cache_old(other)
        self.write('new')
        one.memoized.invalidate('key')
        self.assertEqual('new', self.in_thread(other.read))
        self.assertEqual('new', one.memoized('key'))

    def test_region_invalidated_within_a_write(self):
        one, other = self.process(), self.process()

        @after_write.invalidate_again
        def write():
            one.memoized.invalidate('key')
            self.invalidate_and_cache_old(other)
            self.write('new')

        one.read()
        write()
        self.assertEqual('new', self.in_thread(other.read))
        self.assertEqual('new', one.memoized('key'))


class ReadAheadTests(base.CacheTestCase):
    """What was read in one round trip, before it was asked for."""

    def setUp(self):
        super().setUp()
        self.one, self.other = self.process(), self.process()

    def stored(self):
        """What the server holds of all that a read needs."""
        self.one.begin()
        with facts.tracing() as trace:
            self.one.memoized('key')
        keys = [key.removeprefix(facts.ID) for key in trace.facts]
        self.assertEqual(2, len(keys))
        found = stores.of(self.one.region).get_many(keys)
        return dict(zip(keys, found))

    def ahead(self, stored):
        """What a request gets, and how many commands the server had."""
        self.one.begin()
        del self.server.commands[:]
        with facts.reading_ahead():
            facts.offer(stored)
            value = self.one.memoized('key')
        return value, len(self.server.commands)

    def test_nothing_is_read_again(self):
        self.one.read()
        self.assertEqual(('old', 0), self.ahead(self.stored()))

    def test_only_within_the_block(self):
        self.one.read()
        stored = self.stored()
        self.ahead(stored)
        self.database['key'] = 'new'
        self.other.drop()
        self.assertEqual('new', self.one.read())

    def test_dropped_by_the_request(self):
        self.one.read()
        stored = self.stored()
        self.one.begin()
        with facts.reading_ahead():
            facts.offer(stored)
            self.database['key'] = 'new'
            self.one.memoized.invalidate('key')
            self.assertEqual('new', self.one.memoized('key'))

    def test_region_that_this_process_has_invalidated(self):
        self.one.read()
        stored = self.stored()
        self.database['key'] = 'new'
        self.one.invalidate()
        region_id = self.one.region_id()
        self.assertEqual('new', self.ahead(stored)[0])
        self.assertEqual(region_id, self.one.region_id())

    def test_value_that_was_being_made(self):
        self.one.read()
        keys = list(self.stored())
        found = []

        def look():
            found.extend(stores.of(self.other.region).get_many(keys))

        self.one.drop()
        self.after_read.append(look)
        self.one.read()
        self.assertEqual('old', self.ahead(dict(zip(keys, found)))[0])


class MemcachedTests(_Leases, base.CacheTestCase):
    backend = 'dogpile.cache.memcached'


class PyMemcacheTests(_Leases, base.CacheTestCase):
    backend = 'dogpile.cache.pymemcache'


class MemcachePoolTests(_Leases, base.CacheTestCase):
    backend = 'oslo_cache.memcache_pool'


class LongReadTests(base.CacheTestCase):
    backend = 'dogpile.cache.memory'

    def test_value_that_is_read_for_long(self):
        one = self.process()

        def wait():
            self.now += 45

        self.after_read.append(wait)
        one.read()
        self.write('new')
        self.assertEqual('old', one.read())
