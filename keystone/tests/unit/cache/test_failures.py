# SPDX-License-Identifier: Apache-2.0

"""What the caches do while their servers fail."""

import threading
import time

import fixtures

from keystone.tests.unit.cache import base


class _Failures:
    """What holds for each client library; a subclass names it."""

    def test_lost_invalidation(self):
        one, other = self.process(), self.process()
        self.assertEqual(['old'] * 2, [one.read(), other.read()])
        self.server.takes = False
        self.write('new')
        one.invalidate()
        self.assertEqual('new', one.read())
        # The other one cannot know yet.
        self.assertEqual('old', other.read())

        self.server.takes = True
        self.now += base.PAUSE
        self.assertEqual('new', one.read())
        self.assertEqual('new', other.read())
        self.assertEqual(one.region_id(), other.region_id())

    def test_lost_invalidation_and_a_later_one_of_another_process(self):
        one, other = self.process(), self.process()
        one.read()
        self.server.takes = False
        one.invalidate()
        self.server.takes = True
        other.invalidate()
        self.assertEqual('old', other.read())
        # The order of both is unknown.
        self.write('new')
        self.now += base.PAUSE
        self.assertEqual('new', one.read())
        self.assertEqual('new', other.read())

    def test_id_that_was_stored_without_an_answer(self):
        one, other, another = self.process(), self.process(), self.process()
        self.server.answers = False
        one.invalidate()
        self.server.answers = True
        self.assertEqual('old', other.read())
        self.write('new')
        another.invalidate()
        self.now += base.PAUSE
        # It does not restore the id that both have replaced.
        self.assertEqual('new', one.read())
        self.assertEqual('new', other.read())

    def test_value_that_could_not_be_dropped(self):
        one, other = self.process(), self.process()
        one.read()
        self.server.takes = False
        self.write('new')
        one.drop()
        self.assertEqual('new', one.read())
        self.server.takes = True
        self.now += base.PAUSE
        self.assertEqual('new', one.read())
        self.assertEqual('new', other.read())

    def test_value_that_is_dropped_costs_nobody_else_anything(self):
        one, other = self.process(), self.process()
        before = one.region_id()
        one.read()
        self.write('new')
        one.drop()
        one.drop()
        self.assertEqual('new', other.read())
        self.assertEqual(before, other.region_id())

    def test_server_with_old_contents(self):
        one, other = self.process(), self.process()
        one.read()
        old = dict(self.server.items)
        self.write('new')
        one.invalidate()
        self.assertEqual('new', other.read())

        self.server.items = old
        self.now += base.PAUSE
        self.assertEqual('new', other.read())
        # One that has seen nothing is told by the new id.
        self.assertEqual('new', self.process().read())
        self.assertEqual('new', one.read())

    def test_server_with_an_old_id_of_a_part(self):
        one, other = self.process(), self.process()
        before = other.region_id()
        ids = one.manager.ids
        part = other.manager.ids.read('part', 60)
        old = dict(self.server.items)
        one.begin()
        self.assertTrue(ids.delete_parts('part'))
        ids.write_keeping_base(one.manager.name)
        self.server.items = old
        self.now += base.PAUSE
        other.begin()
        # It has not seen another one.
        self.assertEqual(part, other.manager.ids.read('part', 60))
        self.assertNotEqual(before, one.region_id())
        self.assertEqual(one.region_id(), other.region_id())

    def test_old_id_is_not_used_either_where_it_cannot_be_replaced(self):
        one = self.process()
        one.read()
        old = dict(self.server.items)
        self.write('new')
        one.invalidate()
        self.server.items = old
        self.server.takes = False
        # Also before the next attempt to write is due.
        self.assertEqual('new', one.read())
        self.now += base.PAUSE
        self.assertEqual('new', one.read())

    def test_value_under_an_id_of_the_process_alone_is_dropped_for_all(self):
        one, other = self.process(), self.process()
        one.read()
        old = dict(self.server.items)
        one.invalidate()
        # Other processes, which know no better, use the old id.
        self.server.items = dict(old)
        self.assertEqual('old', other.read())
        self.write('new')
        one.drop()
        self.now += base.PAUSE
        self.assertEqual('new', other.read())

    def test_server_that_answers_again_when_a_value_is_dropped(self):
        one, other = self.process(), self.process()
        self.assertEqual('old', other.read())
        self.server.stop()
        # A request that writes: it reads the value without the cache.
        self.assertEqual('old', one.read())
        self.server.start()
        self.now += base.PAUSE
        self.write('new')
        one.memoized.invalidate('key')
        self.assertEqual('new', one.read())
        self.assertEqual('new', other.read())

    def test_id_that_cannot_be_read_when_a_value_is_dropped(self):
        one, other = self.process(), self.process()
        self.assertEqual('old', other.read())
        self.server.stop()
        one.region_id()
        self.server.start()
        self.server.commands.clear()
        self.write('new')
        one.drop()
        # One timeout is enough: the values are bypassed as well.
        self.assertEqual([], self.server.commands)
        self.now += base.PAUSE
        self.assertEqual('new', one.read())
        self.assertEqual('new', other.read())

    def test_id_lost_while_a_request_changes_a_value(self):
        one, other = self.process(), self.process()
        one.read()
        self.server.items.clear()
        self.assertEqual('old', other.read())
        self.write('new')
        one.memoized.invalidate('key')
        self.assertEqual('new', other.read())

    def test_server_that_has_lost_the_id(self):
        one, other = self.process(), self.process()
        one.read()
        self.server.items.clear()
        self.now += base.PAUSE
        self.write('new')
        self.assertEqual('new', one.read())
        self.assertEqual(one.region_id(), other.region_id())

    def test_server_was_restarted(self):
        one = self.process()
        one.read()
        self.server.stop()
        self.server.start()
        self.write('new')
        # The value is still there.
        self.assertEqual('old', one.read())

    def test_server_is_gone(self):
        one = self.process()
        one.read()
        self.server.stop()
        self.write('new')
        # None of these raises.
        one.invalidate()
        one.drop()
        for _ in range(5):
            self.assertEqual('new', one.read())
            self.now += 0.3

    def test_clock_that_is_ahead(self):
        ahead, right = self.process(), self.process()
        now = time.time()
        with fixtures.MonkeyPatch('time.time', lambda: now + 60):
            ahead.invalidate()
        before = right.region_id()
        self.assertEqual(before, ahead.region_id())
        # Made later, by a clock that shows less.
        right.invalidate()
        after = ahead.region_id()
        self.assertNotEqual(before, after)
        self.assertEqual(right.region_id(), after)


class MemcachedTests(_Failures, base.CacheTestCase):
    backend = 'dogpile.cache.memcached'


class PyMemcacheTests(_Failures, base.CacheTestCase):
    backend = 'dogpile.cache.pymemcache'


class MemcachePoolTests(_Failures, base.CacheTestCase):
    backend = 'oslo_cache.memcache_pool'


class PartsTests(base.CacheTestCase):
    def test_parts_of_a_region_take_no_memory(self):
        one = self.process()
        one.read()
        known = vars(one.manager.ids._known)
        before = dict(known)
        # There is one for each user whose roles are looked up.
        for user in 'abc':
            one.manager.ids.read(user, 60)
        self.assertEqual(before, known)


class ThreadsTests(base.CacheTestCase):
    def test_threads(self):
        one = self.process()
        began = time.monotonic()
        in_force = [0]
        errors = []
        reads = []

        def is_over():
            # On a busy machine, a second is too short for some reads.
            seconds = time.monotonic() - began
            return seconds >= (1 if len(reads) > 10 else 60)

        def read():
            while not is_over():
                least = in_force[0]
                got = one.read()
                reads.append(got)
                if got < least:
                    errors.append((least, got))

        self.write(0)
        one.invalidate()
        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        while not is_over():
            self.write(self.database['key'] + 1)
            one.invalidate()
            in_force[0] = self.database['key']
            time.sleep(0.01)
        for thread in threads:
            thread.join()
        self.assertEqual([], errors)
        self.assertLess(10, len(reads))
