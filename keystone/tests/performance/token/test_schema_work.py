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

"""What it takes to look at the body of a request for a token."""

import fixtures
from jsonschema import validators as of_jsonschema

from keystone.auth import schema
from keystone import exception
from keystone.tests import unit

_SIGN_IN = {'identity': {'methods': ['token'], 'token': {'id': 'a'}}}


class SchemaWorkTests(unit.BaseTestCase):
    """A schema needs no class of its own for each request."""

    def setUp(self):
        super().setUp()
        self.made = []
        create = of_jsonschema.create

        def note(*args, **kwargs):
            self.made.append(args)
            return create(*args, **kwargs)

        self.useFixture(
            fixtures.MockPatchObject(of_jsonschema, 'create', note)
        )

    def test_good_body(self):
        schema.validate_issue_token_auth(_SIGN_IN)

        self.assertEqual(
            [], self.made, 'Each request for a token makes a validator class.'
        )

    def test_bad_body(self):
        for body in (
            {},
            {'identity': {'methods': 'token'}},
            {**_SIGN_IN, 'scope': {'system': {'all': 'some'}}},
        ):
            self.assertRaises(
                exception.SchemaValidationError,
                schema.validate_issue_token_auth,
                body,
            )

        self.assertEqual([], self.made)
