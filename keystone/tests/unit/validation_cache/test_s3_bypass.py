# SPDX-License-Identifier: Apache-2.0

import http.client
import json

from keystone.tests.unit.validation_cache import test_s3_requests
from keystone.token.validation_cache import inquiry
from keystone.token.validation_cache import s3_requests


class BypassTests(test_s3_requests.S3RequestTestCase):
    """Requests that are processed normally, whatever the cache holds."""

    def test_body(self):
        signed = self.signed()
        for status, body in (
            (http.client.OK, {'credential': signed}),
            (http.client.OK, {'credentials': {**signed, 'host': 'x'}}),
            (http.client.OK, {'credentials': signed, 'more': 'x'}),
            (http.client.UNAUTHORIZED, {'credentials': {}}),
            (http.client.UNAUTHORIZED, {'credentials': 'x'}),
            (http.client.BAD_REQUEST, {}),
            (http.client.BAD_REQUEST, []),
        ):
            self.assertBypassed('body', status, body=json.dumps(body).encode())

    def test_body_that_is_not_json(self):
        for body in (b'{', b'', b'\xff', b'"\xed'):
            self.assertBypassed('body', http.client.BAD_REQUEST, body=body)

    def test_body_that_raises_another_error(self):
        """Keystone answers with an error instead of the server."""
        for more in ({'body': b'[' * 5000}, {'CONTENT_LENGTH': '9' * 5000}):
            environ = self.environ(**self.arguments(**more))
            self.assertRaises(
                inquiry.Bypass, s3_requests.SignedRequest, environ
            )

    def test_length(self):
        long = json.dumps(
            {'credentials': {**self.signed(), 'token': 'A' * 20000}}
        ).encode()
        self.assertBypassed('body', http.client.UNAUTHORIZED, body=long)

    def test_configured_length(self):
        self.config_fixture.config(
            group='oslo_middleware', max_request_body_size=100
        )
        self.assertEqual('413', self.inquire()[0][:3])

    def test_other_type(self):
        self.assertBypassed(
            'body', http.client.BAD_REQUEST, CONTENT_TYPE='text/plain'
        )

    def test_surroundings(self):
        self.assertBypassed('query', QUERY_STRING='a=b')
        self.assertBypassed('header', HTTP_X_SOMETHING='new')
        self.assertBypassed('subject', HTTP_X_SUBJECT_TOKEN=self.token)
        self.assertBypassed(
            'caller', http.client.UNAUTHORIZED, HTTP_X_AUTH_TOKEN=None
        )
