# SPDX-License-Identifier: Apache-2.0

import datetime
import os
import threading
import time

from oslo_db import exception as db_exception

from keystone.revoke.backends import sql as revoke_sql
from keystone.tests.unit.revoke import replica_base


class FailsSlowly(revoke_sql.Revoke):
    """A driver that cannot reach its database for a while."""

    fails = False
    failures = 0

    def __init__(self):
        super().__init__()
        self.entered, self.leave = threading.Event(), threading.Event()

    def fail(self):
        if self.fails:
            self.failures += 1
            self.entered.set()
            self.leave.wait(60)
            time.sleep(0.1)
            raise db_exception.DBConnectionError

    def read_news(self, *args):
        self.fail()
        return super().read_news(*args)

    def count_events(self, *args):
        self.fail()
        return super().count_events(*args)


class ThreadTests(replica_base.ReplicaTestCase):
    def run_threads(self, number, target):
        results = []

        def run():
            results.append(target())

        threads = [threading.Thread(target=run) for _ in range(number)]
        for thread in threads:
            thread.start()
        return threads, results

    def test_one_thread_reads_for_all_that_wait(self):
        entered, leave = threading.Event(), threading.Event()

        class Slow(revoke_sql.Revoke):
            reads = 0

            def read_events(self, *args, **kwargs):
                self.reads += 1
                entered.set()
                leave.wait(60)
                return super().read_events(*args, **kwargs)

        driver = Slow()
        events = self.replica(driver)
        self.write(user_id='a')
        token = self.token(user_id='a')
        threads, results = self.run_threads(
            1, lambda: events.is_revoked(token)
        )
        entered.wait(60)
        more, others = self.run_threads(8, lambda: events.is_revoked(token))
        leave.set()
        for thread in threads + more:
            thread.join(60)

        self.assertEqual([True] * 9, results + others)
        # Those that came during the first read may need a second one.
        self.assertLessEqual(driver.reads, 2)

    def check_slow_failures(self, events, driver):
        """Have eight checks wait while another one fails slowly."""
        driver.fails = True
        token = self.token(user_id='a')

        def check():
            self.assertRaises(db_exception.DBError, events.is_revoked, token)
            return True

        first, results = self.run_threads(1, check)
        self.assertTrue(driver.entered.wait(60))
        others, more = self.run_threads(8, check)
        time.sleep(0.2)
        driver.leave.set()
        for thread in first + others:
            thread.join(60)
        self.assertEqual([True] * 9, results + more)
        # One began before the others came. One of them may be late.
        self.assertLessEqual(driver.failures, 3)

        driver.fails = False
        self.assertRevoked(events, user_id='a')

    def test_failed_sync_is_not_repeated_by_all_that_wait(self):
        driver = FailsSlowly()
        events = self.replica(driver)
        self.assertValid(events, user_id='a')
        self.revoke(user_id='a')
        self.check_slow_failures(events, driver)

    def test_failed_first_check_is_not_repeated_by_all_that_wait(self):
        self.write(user_id='a')
        driver = FailsSlowly()
        self.check_slow_failures(self.replica(driver), driver)

    def test_sync_that_began_before_the_stamp_was_read_does_not_count(self):
        entered, leave = threading.Event(), threading.Event()

        class Slow(revoke_sql.Revoke):
            def read_events(self, *args, **kwargs):
                yield from super().read_events(*args, **kwargs)
                entered.set()
                leave.wait(60)

        events = self.replica(Slow())
        token = self.token(user_id='a')
        first, _ = self.run_threads(1, lambda: events.is_revoked(token))
        entered.wait(60)
        # The first thread has read the table; now it changes.
        self.revoke(user_id='a')
        second, results = self.run_threads(1, lambda: events.is_revoked(token))
        leave.set()
        for thread in first + second:
            thread.join(60)

        self.assertEqual([True], results)

    def test_old_copy_serves_while_all_is_loaded_anew(self):
        entered, leave = threading.Event(), threading.Event()

        class Slow(revoke_sql.Revoke):
            slow = False

            def read_events(self, *args):
                if self.slow:
                    entered.set()
                    leave.wait(60)
                return super().read_events(*args)

            def count_events(self, since, before):
                # Not that of the recent ones, of which none is late.
                self.slow = before < self.latest
                return super().count_events(since, before) + self.slow

            latest = self.clock.utcnow + datetime.timedelta(days=1)

        self.config(group='token', expiration=86400)
        events = self.replica(Slow())
        self.write(user_id='a')
        token = self.token(user_id='a')
        self.assertTrue(events.is_revoked(token))
        self.clock.tick(600)
        loader, results = self.run_threads(1, lambda: events.is_revoked(token))
        self.assertTrue(entered.wait(60))

        self.assertTrue(events.is_revoked(token))
        self.revoke(user_id='b')
        self.assertRevoked(events, user_id='b')
        leave.set()
        loader[0].join(60)

        self.assertEqual([True], results)
        self.assertRevoked(events, user_id='b')
        self.assertEqual(2, len(events.view.copy))


class ForkTests(replica_base.ReplicaTestCase):
    def in_child(self, check):
        """Whether a check is true in a forked process."""
        child = os.fork()
        if not child:
            code = 1
            try:
                code = 0 if check() else 1
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status) == 0

    def test_child_loads_for_itself_while_a_thread_holds_the_lock(self):
        entered, leave = threading.Event(), threading.Event()
        parent = os.getpid()

        class Stuck(revoke_sql.Revoke):
            def read_events(self, *args, **kwargs):
                if os.getpid() == parent and threading.current_thread() is (
                    thread
                ):
                    entered.set()
                    leave.wait(60)
                return super().read_events(*args, **kwargs)

        self.write(user_id='a')
        events = self.replica(Stuck())
        token = self.token(user_id='a')
        thread = threading.Thread(target=events.is_revoked, args=(token,))
        thread.start()
        self.addCleanup(thread.join, 60)
        self.addCleanup(leave.set)
        self.assertTrue(entered.wait(60))

        self.assertTrue(self.in_child(lambda: events.is_revoked(token)))

    def test_child_and_parent_go_on_apart(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        token = self.token(user_id='a')

        def revoke_in_child():
            self.write(user_id='a')
            events.written(None)
            return events.is_revoked(token)

        self.assertTrue(self.in_child(revoke_in_child))
        self.assertFalse(events.is_revoked(token))
        self.clock.tick(10)
        self.assertTrue(events.is_revoked(token))
