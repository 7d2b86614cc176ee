# SPDX-License-Identifier: Apache-2.0

"""Whose computed role assignments a write drops."""

import threading
from unittest import mock
import uuid

import fixtures
from oslo_context import context as oslo_context

from keystone import assignment
from keystone.assignment import affected
from keystone.common.cache import after_write
from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.assignment import affected_base
from keystone.tests.unit.assignment import directory
from keystone.tests.unit import fakeldap

PROVIDERS = provider_api.ProviderAPIs
REGION = assignment.COMPUTED_ASSIGNMENTS_REGION


class AffectedTests(affected_base.AffectedTestCase):
    """A change drops the roles of those concerned, and of no other user."""

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

    def test_grant_of_a_group_with_expiring_members(self):
        self.join(self.user_id, self.group['id'])
        roles = self.assertDrops(self.grant, group_id=self.group['id'])
        self.assertIn(self.extra['id'], roles)
        roles = self.assertDrops(self.remove, group_id=self.group['id'])
        self.assertNotIn(self.extra['id'], roles)

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

    def test_error_after_a_member_was_removed(self):
        self.join_group()
        identity = PROVIDERS.identity_api
        with mock.patch.object(
            identity, '_persist_revocation_event_for_user', side_effect=OSError
        ):
            self.assertRaises(
                OSError,
                identity.remove_user_from_group,
                self.user_id,
                self.group['id'],
            )
        self.assertNotIn(self.extra['id'], self.roles(self.user_id)[0])

    def test_group_deleted(self):
        self.join_group()

        roles = self.assertDrops(
            PROVIDERS.identity_api.delete_group, self.group['id']
        )

        self.assertNotIn(self.extra['id'], roles)

    def test_group_deleted_with_expiring_members(self):
        self.join(self.user_id, self.group['id'])
        self.grant(group_id=self.group['id'])
        self.assertIn(self.extra['id'], self.roles(self.user_id)[0])

        roles = self.assertDrops(
            PROVIDERS.identity_api.delete_group, self.group['id']
        )

        self.assertNotIn(self.extra['id'], roles)

    def test_writes_of_a_change(self):
        """One, whatever the number of members."""
        for _ in range(10):
            user = unit.create_user(PROVIDERS.identity_api, self.domain_id)
            PROVIDERS.identity_api.add_user_to_group(
                user['id'], self.group['id']
            )
        self.roles(self.user_id)
        actor = {'group_id': self.group['id']}
        # The ids of the members, the group and the lists.
        self.assertEqual([12], self.writes(self.grant, **actor))
        # They are deleted again when the write has completed.
        self.assertEqual([12] * 2, self.writes(self.remove, **actor))

    def test_nested_writes_are_repeated_once(self):
        @after_write.invalidate_again
        def write(*writes):
            for one in writes:
                affected.drop(REGION, self.user_id)
                one()

        self.roles(self.user_id)
        # The ids of the user and the lists.
        self.assertEqual([2] * 2, self.writes(write, str))
        self.assertEqual([2] * 3, self.writes(write, str, str))
        self.assertEqual([2] * 4, self.writes(write, lambda: write(str)))

    def writes(self, function, *args, **kwargs):
        """The numbers of ids of parts that a function deletes together."""
        numbers = []
        store = REGION.region_invalidator._region_manager.ids.store
        delete = store.delete

        def note(*keys, copies_of=()):
            if keys:
                numbers.append(len(keys))
            delete(*keys, copies_of=copies_of)

        with fixtures.MockPatchObject(store, 'delete', note):
            self.read(function, *args, **kwargs)
        return numbers

    def test_group_deleted_by_a_database_that_does_not_tell(self):
        """Such as MySQL: it does not return what it deletes."""
        self.join_group()
        self.roles(self.other['id'])

        with self.without_returning():
            PROVIDERS.identity_api.delete_group(self.group['id'])

        self.assertNotIn(self.extra['id'], self.roles(self.user_id)[0])
        self.assertTrue(self.roles(self.other['id'])[1])

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

    def test_large_group_drops_everything(self):
        for user_id in (self.user_id, self.other['id']):
            PROVIDERS.identity_api.add_user_to_group(user_id, self.group['id'])
        for largest, is_kept in ((2, True), (1, False)):
            user = unit.create_user(PROVIDERS.identity_api, self.domain_id)
            self.roles(user['id'])
            with fixtures.MonkeyPatch(
                'keystone.assignment.affected._MOST_USERS', largest
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
            ids = manager.ids
            (stored,) = ids.store.get_many([ids.key(manager.name)])
            return ids.parse(stored).payload, manager.region_id

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
