# SPDX-License-Identifier: Apache-2.0

"""Ids of users that are spelled otherwise, or on a server that fails."""

import uuid

import fixtures

from keystone.assignment import affected
from keystone.assignment import user_keys
from keystone.common import cache
from keystone.tests.unit.cache import base as cache_base
from keystone.tests.unit.cache import memcached_server


class Process(cache_base.Process):
    """A process that caches the roles of users by their ids."""

    def __init__(self, test, name):
        super().__init__(test, name)
        user_keys.kept_by_user(self.region)

        @cache.get_memoization_decorator('role', region=self.region)
        def roles(user_id, domain_id):
            return test.database['key']

        self.roles = roles

    def read(self, user_id):
        self.begin()
        return self.roles(user_id, 'domain')

    def change(self, *user_ids):
        """Drop the roles of users, as a request does."""
        self.begin()
        for user_id in user_ids:
            affected.drop(self.region, user_id)


class ExpiryTests(cache_base.CacheTestCase):
    """Users who are gone leave nothing in a server that evicts nothing."""

    def test_ids_of_users(self):
        process = Process(self, self.name)
        process.read('abc')
        ids = process.manager.ids
        key = ids.key('assignments: abc')
        self.assertEqual(86400, self.server.items[key][1])
        process.change('abc')
        self.assertNotIn(key, self.server.items)
        # That of the region stays.
        left = self.server.items[ids.key(process.manager.name)][1]
        self.assertEqual(0, left)


class SpellingTests(cache_base.CacheTestCase):
    """A database may find a user by an id that is spelled otherwise."""

    def drop(self, read, dropped):
        """What is read for a user, and for another, after a change."""
        process = Process(self, uuid.uuid4().hex)
        self.write('old')
        self.assertEqual(['old'] * 2, list(map(process.read, (read, 'else'))))
        self.write('new')
        process.change(dropped)
        return process.read(read), process.read('else')

    def test_case(self):
        self.assertEqual(('new', 'old'), self.drop('abc', 'ABC'))
        self.assertEqual(('new', 'old'), self.drop('ABC', 'abc'))

    def test_other_characters(self):
        for other in ('abc ', '\u00e1bc', 'a\u200bbc'):
            self.assertEqual(('new', 'new'), self.drop('abc', other))
            self.assertEqual(('new', 'old'), self.drop(other, 'abc'))

    def test_other_user(self):
        self.assertEqual(('old', 'old'), self.drop('abc', 'abd'))


class FailureTests(cache_base.CacheTestCase):
    """The id of a user is on a server that fails."""

    def setUp(self):
        super().setUp()
        self.failing = self.useFixture(memcached_server.MemcachedServer())
        self.config_fixture.config(
            group='cache',
            memcache_servers=[self.server.address, self.failing.address],
        )
        # The id of the region is on the other server.
        while self.server_of(self.process().manager.name) != self.server:
            self.name = uuid.uuid4().hex
        self.user_id = 'user'
        while self.server_of(f'assignments: {self.user_id}') == self.server:
            self.user_id = uuid.uuid4().hex

    def process(self):
        return Process(self, self.name)

    def server_of(self, name):
        """The server with an id."""
        ids = self.process().manager.ids
        server = ids.store._server_of(ids.key(name))
        mine = ids.store._servers[self.server.address]
        return self.server if server is mine else self.failing

    def test_others_drop_everything(self):
        one, other = self.process(), self.process()
        self.assertEqual('old', one.read(self.user_id))
        self.assertEqual('old', other.read(self.user_id))
        self.failing.takes = False
        self.write('new')
        one.change(self.user_id)

        self.assertEqual('new', other.read(self.user_id))
        self.failing.takes = True
        self.assertEqual('new', other.read(self.user_id))
        self.assertEqual('new', one.read(self.user_id))

    def test_ids_of_users_are_not_pending(self):
        output = self.useFixture(fixtures.FakeLogger())
        one, other = self.process(), self.process()
        one.read(self.user_id)
        other.read(self.user_id)
        self.failing.takes = self.server.takes = False
        self.write('new')
        one.change(self.user_id, *map(str, range(9)))
        self.assertEqual(1, output.output.count('Failed to store'))

        self.failing.takes = self.server.takes = True
        self.server.commands.clear()
        self.failing.commands.clear()
        one.manager.ids.write_pending()
        self.assertEqual(['set'], self.server.commands)
        # The id of the region has another server.
        self.assertEqual(['delete'], self.failing.commands)
        self.assertEqual('new', other.read(self.user_id))
