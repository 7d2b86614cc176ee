# SPDX-License-Identifier: Apache-2.0

from keystone.models import revoke_model
from keystone.tests.unit.revoke import base


class ProjectDomainTests(base.TokenTestCase):
    """A domain event reaches the tokens of the domain's projects."""

    def test_revokes_tokens_scoped_to_the_domains_projects(self):
        in_domain = self.issue(project_id=self.other_project['id'])
        elsewhere = self.issue(project_id=self.project['id'])

        self.revoke(domain_id=self.other_domain['id'])

        self.assertRevoked(in_domain)
        self.assertValid(elsewhere)

    def test_revokes_tokens_scoped_to_the_domain(self):
        in_domain = self.issue(domain_id=self.other_domain['id'])
        elsewhere = self.issue(domain_id=self.domain['id'])
        unscoped = self.issue()

        self.revoke(domain_id=self.other_domain['id'])

        self.assertRevoked(in_domain)
        self.assertValid(elsewhere)
        self.assertValid(unscoped)

    def test_revokes_tokens_of_the_domains_users_in_any_scope(self):
        unscoped = self.issue()
        elsewhere = self.issue(project_id=self.other_project['id'])

        self.revoke(domain_id=self.user['domain_id'])

        self.assertRevoked(unscoped)
        self.assertRevoked(elsewhere)

    def test_assignment_domain_of_each_scope(self):
        def domain_of(**scope):
            values = revoke_model.build_token_values(self.issue(**scope))
            return values['assignment_domain_id']

        other = self.other_domain['id']
        self.assertEqual(other, domain_of(project_id=self.other_project['id']))
        self.assertEqual(other, domain_of(domain_id=other))
        self.assertIsNone(domain_of())
