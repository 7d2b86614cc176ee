# SPDX-License-Identifier: Apache-2.0

import gc
import os
import sys

import sqlalchemy

import keystone
from keystone.common import cache as keystone_cache
from keystone.common.cache import stores
from keystone.common import sql
from keystone.tests.unit.validation_cache import base

_OURS = os.path.dirname(keystone.__file__) + os.sep
_TESTS = os.path.join(_OURS, 'tests') + os.sep


def _ignore(_status, _headers):
    return None


class HitWorkTests(base.ValidationCacheTestCase):
    """What an answer from the cache costs, in calls and round trips."""

    def config_overrides(self):
        super().config_overrides()
        # Nothing is synchronized while something is counted.
        self.config_fixture.config(group='revoke', sync_interval=3600)

    def setUp(self):
        super().setUp()
        self.subject = self.get_scoped_token()
        for _ in range(3):
            self.ask(self.subject)
        self.warm = self.environ(self.subject)

    def hit(self):
        with self.counted(hit=2):
            chunks = self.middleware(self.warm, lambda *_: None)
        self.assertEqual(1, len(chunks))

    def calls(self, is_counted):
        """Count the calls of Python functions that one hit makes."""
        count = 0

        def profile(frame, kind, _argument):
            nonlocal count
            if kind == 'call':
                count += is_counted(frame.f_code.co_filename)

        environ = self.warm
        middleware = self.middleware
        gc.disable()
        sys.setprofile(profile)
        try:
            middleware(environ, _ignore)
        finally:
            sys.setprofile(None)
            gc.enable()
        return count

    def test_function_calls(self):
        before = self.cache.counts['hit']
        inside = self.calls(
            lambda name: name.startswith(_OURS) and not name.startswith(_TESTS)
        )
        everywhere = self.calls(lambda name: True)

        # Each request finds the caller's record and the token's.
        self.assertEqual(before + 4, self.cache.counts['hit'])
        self.assertLess(5, inside)
        self.assertLessEqual(inside, 150)
        self.assertLessEqual(everywhere, 270)

    def statements(self):
        """A list that receives each SQL statement."""
        statements = []

        def note(_connection, _cursor, statement, *_):
            statements.append(statement)

        with sql.session_for_read() as session:
            engine = session.get_bind()
        event = (engine, 'before_cursor_execute', note)
        sqlalchemy.event.listen(*event)
        self.addCleanup(sqlalchemy.event.remove, *event)
        return statements

    def test_statements(self):
        statements = self.statements()

        self.hit()

        self.assertEqual([], statements)

    def test_statements_after_a_revocation(self):
        another = self.get_scoped_token()
        self.delete('/auth/tokens', headers={'X-Subject-Token': another})
        # This process has written the event, and does not know it yet.
        statements = self.statements()

        with self.counted(hit=2):
            self.middleware(self.warm, _ignore)

        found = [one for one in statements if not one.startswith('BEGIN')]
        self.assertEqual(1, len(found), found)
        self.hit()
        self.assertEqual(1, len(found), found)

    def test_round_trips(self):
        trips = []
        store = stores.of(keystone_cache.CACHE_INVALIDATION_REGION)
        for name in ('get_many', 'add', 'replace', 'set', 'delete'):
            self.note_calls(store, name, trips)

        self.hit()

        self.assertEqual(['get_many'], trips)

    def note_calls(self, store, name, trips):
        original = getattr(store, name)

        def note(*args, **kwargs):
            trips.append(name)
            return original(*args, **kwargs)

        setattr(store, name, note)
        self.addCleanup(delattr, store, name)
