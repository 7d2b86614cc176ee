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

"""Tokens whose roles or whose trust is taken away."""

import datetime

from oslo_serialization import jsonutils
from tempest.lib import decorators

from revcache_tempest_plugin.tests.api import base


class GrantRemovalTest(base.PromiseTestCase):
    promise = 'grant_removal'

    @decorators.idempotent_id('6e5d0c1b-f283-4c97-b0e4-1b7a9d8f41bf')
    def test_last_role_on_a_project(self):
        left, kept = self.project(), self.project()
        person = self.member(left, kept)
        doomed = self.log_in(
            person, 'a token for the project', project_id=left
        )
        others = [
            self.log_in(
                person, 'a token for another project', project_id=kept
            ),
            self.log_in(
                self.member(left), "another user's token", project_id=left
            ),
        ]
        self.assert_valid(doomed, *others)
        self.roles.delete_role_from_user_on_project(
            left, person['user_id'], person['role_id']
        )
        self.assert_refused(doomed)
        self.assert_valid(*others)
        self.roles.create_user_role_on_project(
            left, person['user_id'], person['role_id']
        )
        self.assert_valid(
            self.log_in(person, 'a token issued later', project_id=left)
        )


class TrustRemovalTest(base.PromiseTestCase):
    promise = 'trust_removal'

    @decorators.idempotent_id('a07f8e52-6d94-4f0d-a6c3-c25e1f9b72d0')
    def test_deleted_trust(self):
        place = self.project()
        trustor, trustee = self.member(place), self.user()
        own = self.log_in(trustor, "the trustor's own token", project_id=place)
        trusts = [self.trust(own, trustor, trustee, hours) for hours in (1, 2)]
        doomed, other = (
            self.log_in_through(trust, trustee, name)
            for trust, name in zip(
                trusts,
                ('a token of the trust', 'a token of another trust'),
                strict=True,
            )
        )
        self.assert_valid(doomed, other)
        status, _body = self.call(
            'DELETE', f'/OS-TRUST/trusts/{trusts[0]}', own
        )
        self.assertEqual(204, status)
        self.assert_refused(doomed)
        self.assert_valid(other, own)

    def trust(self, own, trustor, trustee, hours):
        """Create a trust; it goes with its trustor."""
        expiry = datetime.datetime.now(datetime.UTC)
        expiry += datetime.timedelta(hours=hours)
        status, body = self.call(
            'POST',
            '/OS-TRUST/trusts',
            own,
            body={
                'trust': {
                    'trustor_user_id': trustor['user_id'],
                    'trustee_user_id': trustee['user_id'],
                    'project_id': own.body['project']['id'],
                    'impersonation': False,
                    'roles': [{'id': trustor['role_id']}],
                    'expires_at': expiry.strftime('%Y-%m-%dT%H:%M:%S.000000Z'),
                }
            },
        )
        self.assertEqual(201, status, body)
        return body['trust']['id']

    def log_in_through(self, trust, trustee, name):
        """Get a trustee's token for what a trust gives."""
        identity = {
            'methods': ['password'],
            'password': {
                'user': {
                    'id': trustee['user_id'],
                    'password': trustee['password'],
                }
            },
        }
        response, body = self.tokens.post(
            self.tokens.auth_url,
            jsonutils.dumps(
                {
                    'auth': {
                        'identity': identity,
                        'scope': {'OS-TRUST:trust': {'id': trust}},
                    }
                }
            ),
        )
        return base.Token(response['x-subject-token'], body['token'], name)
