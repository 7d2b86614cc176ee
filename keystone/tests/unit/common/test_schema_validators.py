# SPDX-License-Identifier: Apache-2.0

"""What it takes to validate requests and responses by their schemas."""

import fixtures
from jsonschema import validators as of_jsonschema

from keystone.api.validation import validators
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

    def test_api_methods(self):
        """Their classes are created once, with what they add."""
        limited = {'type': 'object', 'properties': {'limit': {'minimum': 2}}}
        closed = {'type': 'object', 'additionalProperties': False}
        for _ in range(2):
            self.made.clear()
            validators._SchemaValidator(limited).validate({'limit': '2'})
            self.assertRaises(
                exception.SchemaValidationError,
                validators._SchemaValidator(limited, is_body=False).validate,
                {'limit': '1'},
            )
            body = {'extra': 1}
            self.assertRaises(
                exception.SchemaValidationError,
                validators._SchemaValidator(closed).validate,
                body,
            )
            validators._SchemaValidator(
                closed, relax_additional_properties=True
            ).validate(body)
            self.assertEqual({}, body)

        self.assertEqual([], self.made)
