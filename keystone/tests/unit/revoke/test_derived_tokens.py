# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
