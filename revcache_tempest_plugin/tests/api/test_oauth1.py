# SPDX-License-Identifier: Apache-2.0

"""Tokens that were obtained by OAuth 1.0a, whose grounds are deleted."""

import base64
import hmac
import time
from urllib import parse
import uuid

from oslo_serialization import jsonutils
from tempest import config
from tempest.lib import decorators

from revcache_tempest_plugin.tests.api import base

CONF = config.CONF


def authorization(url, consumer, access):
    """The header of a POST that is signed as RFC 5849 asks.

    :param consumer: what the API said of the consumer
    :param access: what it said of the access token
    """

    def quoted(text):
        return parse.quote(text, safe='~')

    fields = {
        'oauth_consumer_key': consumer['id'],
        'oauth_nonce': uuid.uuid4().hex,
        'oauth_signature_method': 'HMAC-SHA1',
        'oauth_timestamp': str(int(time.time())),
        'oauth_token': access['oauth_token'],
        'oauth_version': '1.0',
    }
    pairs = '&'.join(
        f'{name}={quoted(fields[name])}' for name in sorted(fields)
    )
    signed = '&'.join(map(quoted, ('POST', url, pairs)))
    key = '&'.join(
        map(quoted, (consumer['secret'], access['oauth_token_secret']))
    )
    digest = hmac.digest(key.encode(), signed.encode(), 'sha1')
    fields['oauth_signature'] = base64.b64encode(digest).decode()
    return 'OAuth ' + ', '.join(
        f'{name}="{quoted(value)}"' for name, value in fields.items()
    )


class OAuth1RemovalTest(base.PromiseTestCase):
    promise = 'oauth1_removal'

    def setUp(self):
        super().setUp()
        self.place = self.project()
        self.person = self.member(self.place)
        # Only this user may authorize a consumer.
        (admin,) = self.roles.list_roles(name=CONF.identity.admin_role)[
            'roles'
        ]
        self.roles.create_user_role_on_project(
            self.place, self.person['user_id'], admin['id']
        )
        self.own = self.log_in(
            self.person, "the user's own token", project_id=self.place
        )
        self.client = self.os_admin.oauth_token_client

    def consumer(self):
        """Create a consumer; return what the API says of it."""
        consumers = self.os_admin.oauth_consumers_client
        consumer = consumers.create_consumer(self.name())['consumer']
        self.undo(consumers.delete_consumer, consumer['id'])
        return consumer

    def access(self, consumer):
        """Give a consumer an access token; return what the API says of it."""
        asked = self.client.create_request_token(
            consumer['id'], consumer['secret'], self.place
        )
        status, body = self.call(
            'PUT',
            f'/OS-OAUTH1/authorize/{asked["oauth_token"]}',
            self.own,
            body={'roles': [{'id': self.person['role_id']}]},
        )
        self.assertEqual(200, status, body)
        return self.client.create_access_token(
            consumer['id'],
            consumer['secret'],
            asked['oauth_token'],
            asked['oauth_token_secret'],
            body['token']['oauth_verifier'],
        )

    def log_in_by(self, consumer, access, name):
        """Get a token as a consumer does."""
        response, body = self.tokens.raw_request(
            self.tokens.auth_url,
            'POST',
            headers={
                'Authorization': authorization(
                    self.tokens.auth_url, consumer, access
                ),
                'Content-Type': 'application/json',
            },
            body=jsonutils.dumps(
                {'auth': {'identity': {'methods': ['oauth1'], 'oauth1': {}}}}
            ),
        )
        self.assertEqual(201, response.status, body)
        return base.Token(
            response['x-subject-token'], jsonutils.loads(body)['token'], name
        )

    @decorators.idempotent_id('91c6d7a4-3f58-4b0e-a2d9-7e04b8f1c365')
    def test_deleted_access_token(self):
        consumer = self.consumer()
        gone, kept = (self.access(consumer) for _ in range(2))
        doomed = self.log_in_by(
            consumer, gone, 'a token of the deleted access token'
        )
        other = self.log_in_by(
            consumer, kept, 'a token of another access token'
        )
        self.assert_valid(doomed, other, self.own)
        status, _body = self.call(
            'DELETE',
            f'/users/{self.person["user_id"]}/OS-OAUTH1/access_tokens/'
            f'{gone["oauth_token"]}',
            self.own,
        )
        self.assertEqual(204, status)
        self.assert_refused(doomed)
        self.assert_valid(other, self.own)

    @decorators.idempotent_id('d05e2b8f-6a17-4c93-8e41-f3a9c7d0b562')
    def test_deleted_consumer(self):
        gone, kept = self.consumer(), self.consumer()
        doomed, other = (
            self.log_in_by(consumer, self.access(consumer), name)
            for consumer, name in (
                (gone, 'a token of the deleted consumer'),
                (kept, 'a token of another consumer'),
            )
        )
        self.assert_valid(doomed, other, self.own)
        self.os_admin.oauth_consumers_client.delete_consumer(gone['id'])
        self.assert_refused(doomed)
        self.assert_valid(other, self.own)
