# SPDX-License-Identifier: Apache-2.0

from keystone.common import provider_api
import keystone.exception
from keystone.tests import unit
from keystone.tests.unit.write_order import base

PROVIDERS = provider_api.ProviderAPIs


class ProjectTests(base.WriteOrderTestCase):
    """The tokens of a disabled project are refused."""

    def setUp(self):
        super().setUp()
        self.api = PROVIDERS.resource_api
        self.token = self.issue(project_id=self.project_id)
        self.assertAccepted(self.token)

    def set_enabled(self, project_id, enabled, **kwargs):
        self.api.update_project(project_id, {'enabled': enabled}, **kwargs)

    def disable(self, **kwargs):
        self.set_enabled(self.project_id, False, **kwargs)

    def assertProjectRefused(self, token):
        self.assertRefused(token, keystone.exception.ProjectNotFound)

    def test_reader_in_between(self):
        with self.read_before(
            self.api.driver, 'update_project', self.validate, self.token
        ):
            self.disable()

        self.assertProjectRefused(self.token)

    def test_domain_and_reader_in_between(self):
        def write_then_read(write, *args, **kwargs):
            answer = write(*args, **kwargs)
            self.assertAccepted(self.token)
            return answer

        # The cached domain is only invalidated by the caller of this method.
        with self.replaced(self.api, '_update_project', write_then_read):
            self.api.update_domain(self.domain_id, {'enabled': False})

        self.assertRefused(self.token, keystone.exception.DomainNotFound)

    def test_update_reads_the_project_once(self):
        """From the database, as stock does."""
        reads = []

        def note(read, *args):
            reads.append(args)
            return read(*args)

        with self.replaced(self.api.driver, 'get_project', note):
            self.api.update_project(self.project_id, {'description': 'new'})

        self.assertEqual([(self.project_id,)], reads)

    def child_token(self):
        """Issue a token for a new project below the sample project."""
        child = unit.new_project_ref(
            domain_id=self.domain_id, parent_id=self.project_id
        )
        self.api.create_project(child['id'], child)
        PROVIDERS.assignment_api.create_grant(
            self.role_id, user_id=self.user_id, project_id=child['id']
        )
        token = self.issue(project_id=child['id'])
        self.assertAccepted(token)
        return token

    def test_children(self):
        token = self.child_token()

        self.disable(cascade=True)

        self.assertProjectRefused(token)

    def test_children_that_are_enabled_again(self):
        token = self.child_token()
        self.disable(cascade=True)
        self.elsewhere(self.api.get_project, token.project_id)

        self.set_enabled(self.project_id, True, cascade=True)

        self.assertAccepted(token)

    def test_children_if_the_parent_cannot_be_written(self):
        token = self.child_token()

        def fail_for_the_parent(write, project_id, project):
            self.elsewhere(self.api.get_project, token.project_id)
            if project_id == self.project_id:
                raise keystone.exception.UnexpectedError()
            return write(project_id, project)

        with self.replaced(
            self.api.driver, 'update_project', fail_for_the_parent
        ):
            self.assertRaises(
                keystone.exception.UnexpectedError, self.disable, cascade=True
            )

        self.assertProjectRefused(token)


class DefaultProjectTests(base.WriteOrderTestCase):
    """A deleted project is nobody's default project."""

    def setUp(self):
        super().setUp()
        self.identity = PROVIDERS.identity_api
        self.project = unit.new_project_ref(domain_id=self.domain_id)
        PROVIDERS.resource_api.create_project(self.project['id'], self.project)

    def set_default(self, project_id):
        self.identity.update_user(
            self.user_id, {'default_project_id': project_id}
        )

    def read(self):
        """The default project of the user, as read by id and by name."""
        users = (
            self.identity.get_user(self.user_id),
            self.identity.get_user_by_name(self.user['name'], self.domain_id),
        )
        return [user.get('default_project_id') for user in users]

    def delete(self):
        PROVIDERS.resource_api.delete_project(self.project['id'])

    def test_its_users(self):
        self.set_default(self.project['id'])
        self.assertEqual([self.project['id']] * 2, self.elsewhere(self.read))

        self.delete()

        self.assertEqual([None, None], self.elsewhere(self.read))

    def test_reader_in_between(self):
        self.set_default(self.project['id'])
        with self.read_before(
            self.identity.driver, 'unset_default_project_id', self.read
        ):
            self.delete()

        self.assertEqual([None, None], self.elsewhere(self.read))

    def test_error_after_the_write(self):
        def write_then_fail(write, *args):
            write(*args)
            raise ValueError()

        self.set_default(self.project['id'])
        self.elsewhere(self.read)
        with self.replaced(
            self.identity.driver, 'unset_default_project_id', write_then_fail
        ):
            self.assertRaises(ValueError, self.delete)

        self.assertEqual([None, None], self.elsewhere(self.read))

    def test_other_users_stay_cached(self):
        self.set_default(self.project_id)
        self.elsewhere(self.read)
        with self.replaced(
            self.identity.driver, 'get_user', self.fail
        ), self.replaced(self.identity.driver, 'get_user_by_name', self.fail):
            self.delete()

            self.assertEqual([self.project_id] * 2, self.elsewhere(self.read))
