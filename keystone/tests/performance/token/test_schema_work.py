# SPDX-License-Identifier: Apache-2.0

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
