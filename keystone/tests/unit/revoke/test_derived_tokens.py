# SPDX-License-Identifier: Apache-2.0

from keystone.tests.unit.revoke import base


class DerivedTokensTests(base.TokenTestCase):
    """A token is revoked after others were obtained with it."""

    def setUp(self):
        super().setUp()
        self.root = self.authenticate(password=self.user['password'])
        self.derived = [
            self.authenticate(token=self.root.id, project_id=project_id)
            for project_id in (self.project_id, self.other_project['id'])
        ]
        # What a cache can hold of them, it holds.
        for token in (self.root, *self.derived):
            self.assertValid(token)

    def test_derived_tokens_go_with_their_root(self):
        other = self.authenticate(password=self.user['password'])

        self.delete_token(self.root)

        for token in (self.root, *self.derived):
            self.assertRevoked(token)
        self.assertValid(other)

    def test_cascade_false_revokes_one_token(self):
        self.delete_token(self.root, '?cascade=false')

        self.assertRevoked(self.root)
        for token in self.derived:
            self.assertValid(token)

    def test_root_and_siblings_outlive_a_derived_token(self):
        self.delete_token(self.derived[0])

        self.assertRevoked(self.derived[0])
        for token in (self.root, self.derived[1]):
            self.assertValid(token)
