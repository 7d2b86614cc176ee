# SPDX-License-Identifier: Apache-2.0

"""Whose computed role assignments a write drops."""

import threading
import uuid

import fixtures
from oslo_context import context as oslo_context
from oslo_utils import timeutils
import sqlalchemy
from sqlalchemy import event

from keystone import assignment
from keystone.assignment import affected
from keystone.common import cache
from keystone.common import provider_api
from keystone.common import sql
from keystone import exception
from keystone.identity.backends import sql_model
from keystone.tests import unit
from keystone.tests.unit.assignment import directory
from keystone.tests.unit.cache import base as cache_base
from keystone.tests.unit.cache import memcached_server
from keystone.tests.unit import fakeldap
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs
REGION = assignment.COMPUTED_ASSIGNMENTS_REGION


class AffectedTests(test_v3.RestfulTestCase):
    """A change drops the roles of those concerned, and of no other user."""

    def setUp(self):
        super().setUp()
        self.other = unit.create_user(PROVIDERS.identity_api, self.domain_id)
        self.extra = unit.new_role_ref()
        PROVIDERS.role_api.create_role(self.extra['id'], self.extra)
        PROVIDERS.assignment_api.create_grant(
            self.role_id, user_id=self.other['id'], project_id=self.project_id
        )
        group = unit.new_group_ref(domain_id=self.domain_id)
        self.group = PROVIDERS.identity_api.create_group(group)

    def roles(self, user_id):
        """The roles of a user on the project, and whether they were read."""
        roles, was_read = self.read(
            PROVIDERS.assignment_api.get_roles_for_user_and_project,
            user_id,
            self.project_id,
        )
        return set(roles), was_read

    def projects(self, user_id):
        """The projects of a user, and whether they were read."""
        projects, was_read = self.read(
            PROVIDERS.assignment_api.list_projects_for_user, user_id
        )
        return {project['id'] for project in projects}, was_read

    def read(self, function, *args, **kwargs):
        oslo_context.RequestContext(overwrite=True)
        statements = []

        def note(*args):
            statements.append(args[2])

        event.listen(sqlalchemy.Engine, 'before_cursor_execute', note)
        try:
            found = function(*args, **kwargs)
        finally:
            event.remove(sqlalchemy.Engine, 'before_cursor_execute', note)
        return found, bool(statements)

    def grant(self, role_id=None, **actor):
        PROVIDERS.assignment_api.create_grant(
            role_id or self.extra['id'], project_id=self.project_id, **actor
        )

    def remove(self, **actor):
        PROVIDERS.assignment_api.delete_grant(
            self.extra['id'], project_id=self.project_id, **actor
        )

    def assertDrops(self, change, *args, **kwargs):
        """Demand that a change is seen for one user, and touches no other."""
        self.roles(self.user_id)
        self.roles(self.other['id'])
        self.projects(self.other['id'])
        self.assertFalse(self.roles(self.other['id'])[1])

        change(*args, **kwargs)

        self.assertFalse(self.roles(self.other['id'])[1])
        self.assertFalse(self.projects(self.other['id'])[1])
        return self.roles(self.user_id)[0]

    def test_grant(self):
        roles = self.assertDrops(self.grant, user_id=self.user_id)
        self.assertIn(self.extra['id'], roles)

        roles = self.assertDrops(self.remove, user_id=self.user_id)
        self.assertNotIn(self.extra['id'], roles)

    def test_grant_of_a_group(self):
        add = PROVIDERS.identity_api.add_user_to_group
        self.assertDrops(add, self.user_id, self.group['id'])
        roles = self.assertDrops(self.grant, group_id=self.group['id'])
        self.assertIn(self.extra['id'], roles)

        roles = self.assertDrops(self.remove, group_id=self.group['id'])
        self.assertNotIn(self.extra['id'], roles)

    def join_through_idp(self):
        """Give the user an expiring membership, from an identity provider."""
        self.config_fixture.config(
            group='federation', default_authorization_ttl=5
        )
        PROVIDERS.federation_api.create_idp(
            'idp', {'enabled': True, 'domain_id': self.domain_id}
        )
        with sql.session_for_write() as session:
            session.add(
                sql_model.ExpiringUserGroupMembership(
                    user_id=self.user_id,
                    group_id=self.group['id'],
                    idp_id='idp',
                    last_verified=timeutils.utcnow(),
                )
            )

    def test_grant_of_a_group_with_expiring_members(self):
        self.join_through_idp()
        roles = self.assertDrops(self.grant, group_id=self.group['id'])
        self.assertIn(self.extra['id'], roles)
        roles = self.assertDrops(self.remove, group_id=self.group['id'])
        self.assertNotIn(self.extra['id'], roles)

    def test_identity_provider_deleted(self):
        self.join_through_idp()
        self.grant(group_id=self.group['id'])
        self.assertIn(self.extra['id'], self.roles(self.user_id)[0])

        PROVIDERS.federation_api.delete_idp('idp')

        self.assertNotIn(self.extra['id'], self.roles(self.user_id)[0])

    def test_membership(self):
        self.grant(group_id=self.group['id'])
        roles = self.assertDrops(
            PROVIDERS.identity_api.add_user_to_group,
            self.user_id,
            self.group['id'],
        )
        self.assertIn(self.extra['id'], roles)

        roles = self.assertDrops(
            PROVIDERS.identity_api.remove_user_from_group,
            self.user_id,
            self.group['id'],
        )
        self.assertNotIn(self.extra['id'], roles)

    def test_group_deleted(self):
        self.grant(group_id=self.group['id'])
        PROVIDERS.identity_api.add_user_to_group(
            self.user_id, self.group['id']
        )
        self.assertIn(self.extra['id'], self.roles(self.user_id)[0])

        PROVIDERS.identity_api.delete_group(self.group['id'])

        self.assertNotIn(self.extra['id'], self.roles(self.user_id)[0])

    def test_inherited_grant(self):
        roles = self.assertDrops(
            PROVIDERS.assignment_api.create_grant,
            self.extra['id'],
            user_id=self.user_id,
            domain_id=self.domain_id,
            inherited_to_projects=True,
        )
        self.assertIn(self.extra['id'], roles)

    def test_user_created_and_deleted(self):
        def change():
            user = unit.create_user(PROVIDERS.identity_api, self.domain_id)
            self.grant(user_id=user['id'])
            PROVIDERS.identity_api.delete_user(user['id'])

        self.assertDrops(change)
        self.assertFalse(self.roles(self.user_id)[1])

    def test_project_created_and_deleted(self):
        def change():
            ref = unit.new_project_ref(domain_id=self.domain_id)
            PROVIDERS.resource_api.create_project(ref['id'], ref)
            PROVIDERS.resource_api.delete_project(ref['id'])

        self.roles(self.user_id)
        change()
        self.assertFalse(self.roles(self.user_id)[1])

    def listed(self, **arguments):
        """The projects on which a user has roles."""
        found, _was_read = self.read(
            PROVIDERS.assignment_api.list_role_assignments,
            user_id=self.user_id,
            **arguments,
        )
        return {one.get('project_id') for one in found}

    def test_deleted_project(self):
        """It has no roles any more."""
        ref = unit.new_project_ref(domain_id=self.domain_id)
        PROVIDERS.resource_api.create_project(ref['id'], ref)
        user_id, project_id = self.user_id, ref['id']
        PROVIDERS.assignment_api.create_grant(
            self.role_id, user_id=user_id, project_id=project_id
        )
        api = PROVIDERS.assignment_api
        roles = (
            api.get_roles_for_user_and_project,
            api.get_roles_for_trustor_and_project,
        )
        for get_roles in roles:
            self.assertIn(self.role_id, get_roles(user_id, project_id))
        for is_effective in (None, True):
            self.assertEqual(
                {project_id},
                self.listed(project_id=project_id, effective=is_effective),
            )
        # Not a scope that exists: it is ignored.
        self.assertIn(project_id, self.listed(system='other'))

        PROVIDERS.resource_api.delete_project(project_id)

        for get_roles in roles:
            self.assertRaises(
                exception.ProjectNotFound,
                self.read,
                get_roles,
                user_id,
                project_id,
            )
        self.assertEqual(set(), self.listed(project_id=project_id))
        self.assertRaises(
            exception.ProjectNotFound,
            self.listed,
            project_id=project_id,
            effective=True,
        )
        self.assertNotIn(project_id, self.listed(system='other'))

    def grant_on_domain(self):
        PROVIDERS.assignment_api.create_grant(
            self.extra['id'],
            user_id=self.user_id,
            domain_id=self.domain_id,
            inherited_to_projects=True,
        )

    def test_effective_system_roles(self):
        """The scope is ignored."""
        self.grant_on_domain()
        ref = unit.new_project_ref(domain_id=self.domain_id)
        before = self.listed(effective=True, system='all')
        self.assertIn(self.project_id, before)

        PROVIDERS.resource_api.create_project(ref['id'], ref)

        self.assertEqual(
            before | {ref['id']}, self.listed(effective=True, system='all')
        )

    def test_inherited_on_a_new_project(self):
        self.grant_on_domain()
        ref = unit.new_project_ref(
            domain_id=self.domain_id, parent_id=self.project_id
        )

        def subtree():
            found, _was_read = self.read(
                PROVIDERS.assignment_api.list_role_assignments,
                user_id=self.user_id,
                project_id=self.project_id,
                include_subtree=True,
                effective=True,
            )
            return {one['project_id'] for one in found}

        self.assertEqual({self.project_id}, subtree())
        self.assertNotIn(ref['id'], self.projects(self.user_id)[0])
        PROVIDERS.resource_api.create_project(ref['id'], ref)

        self.assertIn(ref['id'], self.projects(self.user_id)[0])
        self.assertEqual({self.project_id, ref['id']}, subtree())

    def test_projects_of_the_user(self):
        ref = unit.new_project_ref(domain_id=self.domain_id)
        PROVIDERS.resource_api.create_project(ref['id'], ref)
        self.assertNotIn(ref['id'], self.projects(self.user_id)[0])
        PROVIDERS.assignment_api.create_grant(
            self.role_id, user_id=self.user_id, project_id=ref['id']
        )

        self.assertIn(ref['id'], self.projects(self.user_id)[0])

    def test_large_group_drops_everything(self):
        for user_id in (self.user_id, self.other['id']):
            PROVIDERS.identity_api.add_user_to_group(user_id, self.group['id'])
        for largest, is_kept in ((2, True), (1, False)):
            user = unit.create_user(PROVIDERS.identity_api, self.domain_id)
            self.roles(user['id'])
            with fixtures.MonkeyPatch(
                'keystone.assignment.affected._LARGEST_GROUP', largest
            ):
                self.grant(group_id=self.group['id'])
            self.assertNotEqual(is_kept, self.roles(user['id'])[1])
            self.remove(group_id=self.group['id'])

    def test_unknown_group_drops_everything(self):
        self.roles(self.user_id)
        self.grant(group_id=uuid.uuid4().hex)

        self.assertTrue(self.roles(self.user_id)[1])

    def test_implied_role_drops_everything(self):
        self.roles(self.user_id)
        PROVIDERS.role_api.create_implied_role(self.role_id, self.extra['id'])

        roles, were_read = self.roles(self.user_id)
        self.assertTrue(were_read)
        self.assertIn(self.extra['id'], roles)

    def test_unpatched_nodes_see_it(self):
        manager = REGION.region_invalidator._region_manager

        def seen():
            """The id as it is stored, and what counts for this release."""
            oslo_context.RequestContext(overwrite=True)
            (stored,) = manager.ids.store.get_many([manager.key])
            return manager.ids.parse(stored).payload, manager.region_id

        self.roles(self.user_id)
        before = seen()
        self.grant(user_id=self.user_id)
        after = seen()

        self.assertNotEqual(before[0], after[0])
        self.assertEqual(before[1], after[1])

    def test_late_reader(self):
        """Roles read before a change are not used after it."""
        driver = PROVIDERS.assignment_api.driver
        read, go = threading.Event(), threading.Event()
        list_assignments = driver.list_role_assignments

        def slow(*args, **kwargs):
            found = list_assignments(*args, **kwargs)
            read.set()
            go.wait(20)
            return found

        driver.list_role_assignments = slow
        reader = threading.Thread(target=self.roles, args=(self.user_id,))
        reader.start()
        self.assertTrue(read.wait(20))
        driver.list_role_assignments = list_assignments
        self.grant(user_id=self.user_id)
        go.set()
        reader.join(20)

        self.assertIn(self.extra['id'], self.roles(self.user_id)[0])


class DirectoryTests(directory.DirectoryTestCase):
    """Groups of a directory, which do not tell who was a member."""

    def setUp(self):
        super().setUp()
        self.grant = {
            'group_id': self.group['id'],
            'project_id': self.project_bar['id'],
        }

    def roles(self):
        oslo_context.RequestContext(overwrite=True)
        return PROVIDERS.assignment_api.get_roles_for_user_and_project(
            self.user_foo['id'], self.project_bar['id']
        )

    def test_member_who_has_left(self):
        role_id = self.role_admin['id']
        PROVIDERS.assignment_api.create_grant(role_id, **self.grant)
        self.assertIn(role_id, self.roles())
        self.leave()
        self.assertIn(role_id, self.roles())

        PROVIDERS.assignment_api.delete_grant(role_id, **self.grant)

        self.assertNotIn(role_id, self.roles())

    def test_directory_is_not_searched(self):
        role_id = self.role_admin['id']
        searches = []
        with fixtures.MockPatchObject(
            fakeldap.FakeLdap, 'search_s', lambda *args: searches.append(args)
        ):
            PROVIDERS.assignment_api.create_grant(role_id, **self.grant)
            PROVIDERS.assignment_api.delete_grant(role_id, **self.grant)

        self.assertEqual([], searches)


class Process(cache_base.Process):
    """A process that caches the roles of users by their ids."""

    def __init__(self, test, name):
        super().__init__(test, name)
        affected.kept_by_user(self.region)

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
        url = ids.store._server_of(ids.key(name))
        return self.server if url == self.server.address else self.failing

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

    def test_ids_of_users_are_not_owed(self):
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
        one.manager.ids.settle()
        self.assertEqual(['set'], self.server.commands)
        self.assertEqual([], self.failing.commands)
        self.assertEqual('new', other.read(self.user_id))


class CachedUserTests(test_v3.RestfulTestCase):
    """A disabled user is dropped alone."""

    def test_disabled(self):
        manager = cache.CACHE_REGION.region_invalidator._region_manager
        user = unit.create_user(PROVIDERS.identity_api, self.domain_id)
        name = user['name'], self.domain_id
        for _ in range(2):
            oslo_context.RequestContext(overwrite=True)
            PROVIDERS.identity_api.get_user(user['id'])
            PROVIDERS.identity_api.get_user_by_name(*name)
        before = manager.region_id

        PROVIDERS.identity_api.update_user(user['id'], {'enabled': False})
        oslo_context.RequestContext(overwrite=True)

        self.assertEqual(before, manager.region_id)
        self.assertFalse(
            PROVIDERS.identity_api.get_user(user['id'])['enabled']
        )
        self.assertFalse(
            PROVIDERS.identity_api.get_user_by_name(*name)['enabled']
        )
