# SPDX-License-Identifier: Apache-2.0

"""Records that requests and commands make at the same time."""

import os
import threading
from unittest import mock

from keystone.common.key_history import history
from keystone.common.key_history import outlook
from keystone.common.key_history import repository
from keystone.server.flask.request_processing.middleware import key_watch
from keystone.tests.unit.fernet_keys import command_base

# Some user but root.
OTHER = 65534


class LockTests(command_base.CommandTestCase):
    """While a command holds the records."""

    def setUp(self):
        super().setUp()
        self.repository = repository.Repository('fernet_tokens')
        self.now = 0

    def started(self, target):
        thread = threading.Thread(target=target, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        return thread

    def last(self):
        with history.recorded(self.repository) as records:
            return max(key['last'] or 0 for key in records.keys.values())

    def test_requests_do_not_wait(self):
        watcher = key_watch.Watcher(lambda: self.now)
        before = self.last()
        self.clock.tick(100)
        with history.recorded(self.repository):
            thread = self.started(watcher.look)
            thread.join(60)
            self.assertFalse(thread.is_alive())
        self.assertEqual(before, self.last())
        self.assertEqual({}, watcher._told)

        self.now += 1
        watcher.look()

        self.assertEqual(before + 100, self.last())

    def test_commands_wait(self):
        with history.recorded(self.repository):
            thread = self.started(lambda: outlook.look(self.repository))
            thread.join(0.1)
            self.assertTrue(thread.is_alive())
        thread.join(60)
        self.assertFalse(thread.is_alive())


class Slow(key_watch.Watcher):
    """Threads decide at the same time whether to look, if they can."""

    both = threading.Barrier(2)
    _at = 0

    @property
    def _next(self):
        at = self._at
        try:
            self.both.wait(0.2)
        except threading.BrokenBarrierError:
            pass
        return at

    @_next.setter
    def _next(self, at):
        self._at = at


class ServiceTests(command_base.CommandTestCase):
    """The service has threads."""

    def test_one_thread_looks(self):
        watcher = Slow(lambda: 10)
        with mock.patch.object(outlook, 'look') as look:
            threads = [threading.Thread(target=watcher.look) for _ in '12']
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
        self.assertEqual(3, look.call_count)  # once for each repository

    def test_no_thread_acts_as_another_user(self):
        if os.geteuid():
            self.skipTest('only root can work as another user')
        path = self.of('fernet_tokens')
        os.lchown(path, OTHER, OTHER)
        watcher = key_watch.Watcher()

        with mock.patch.object(os, 'seteuid') as switch:
            watcher.look()

        switch.assert_not_called()
        (words,) = watcher._told[path]
        self.assertIn('failed to record: the service runs as root', words)
