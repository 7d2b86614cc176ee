# SPDX-License-Identifier: Apache-2.0

import collections
import copy
import http.client
import json
import logging
import operator
import pickle

import fixtures
from oslo_policy import policy
from oslo_serialization import jsonutils
from oslo_serialization import msgpackutils

from keystone.catalog import core as catalog
from keystone.common import context
from keystone.common import provider_api
from keystone.common import render_token
from keystone.common import token_body
import keystone.conf
from keystone.tests import unit
from keystone.tests.unit.revoke import base

CONF = keystone.conf.CONF
PROVIDERS = provider_api.ProviderAPIs


class CallerTestCase(base.TokenTestCase):
    """Counts what is rendered."""

    def setUp(self):
        super().setUp()
        # A debug log shows the whole token.
        log = logging.getLogger('oslo_policy')
        self.addCleanup(log.setLevel, log.level)
        log.setLevel(logging.INFO)
        self.token = self.issue(project_id=self.project['id'])
        self.done = collections.Counter()
        self.count(render_token, 'render_token_response_from_model')
        self.count(catalog.Manager, 'get_v3_catalog')

    def count(self, where, name):
        function = getattr(where, name)

        def counted(*args, **kwargs):
            self.done[name] += 1
            return function(*args, **kwargs)

        self.useFixture(fixtures.MockPatchObject(where, name, counted))

    def fail_on_catalogs(self):
        class Failure(Exception):
            pass

        def fail(*args):
            raise Failure

        self.useFixture(
            fixtures.MockPatchObject(catalog.Manager, 'get_v3_catalog', fail)
        )
        return Failure


class RequestTests(CallerTestCase):
    """What a request renders of its caller's token."""

    def ask(self, token=None, path=None):
        """Ask for something; the context of the request."""
        answer = self.get(
            path or f'/users/{self.user["id"]}',
            token=(token or self.token).id,
            expected_status=http.client.OK,
        )
        return answer.request.environ[context.REQUEST_CONTEXT_ENV]

    def allowed(self, request_context, rule):
        enforcer = policy.Enforcer(
            CONF, use_conf=False, rules=policy.Rules.from_dict({'it': rule})
        )
        return enforcer.enforce('it', {}, request_context)

    def test_rendered_once_and_without_a_catalog(self):
        self.ask()

        self.assertEqual({'render_token_response_from_model': 1}, self.done)

    def test_with_a_service_token(self):
        service = self.issue(project_id=self.other_project['id'])
        self.get(
            f'/users/{self.user["id"]}',
            token=self.token.id,
            headers={'X-Service-Token': service.id},
        )

        # Either token once.
        self.assertEqual({'render_token_response_from_model': 2}, self.done)

    def test_token_reference_equals_the_whole_token(self):
        whole = render_token.render_token_response_from_model(self.token)

        self.assertEqual(whole, self.ask().token_reference)

    def test_rule_that_reads_the_catalog(self):
        request_context = self.ask()
        self.done.clear()

        kind = 'token.catalog.type'
        self.assertTrue(
            self.allowed(request_context, f'{kind}:{self.service["type"]}')
        )
        self.assertFalse(self.allowed(request_context, f'{kind}:another'))
        self.assertEqual(1, self.done['get_v3_catalog'])

    def test_rule_that_reads_something_else(self):
        request_context = self.ask()
        self.done.clear()

        kind = 'token.project.id'
        self.assertTrue(
            self.allowed(request_context, f'{kind}:{self.project["id"]}')
        )
        self.assertFalse(self.allowed(request_context, 'token.another:1'))
        self.assertEqual({}, self.done)

    def test_catalog_that_cannot_be_made(self):
        self.fail_on_catalogs()

        self.ask()

    def test_access_rules_that_read_the_catalog(self):
        service = unit.new_service_ref(type='identity')
        PROVIDERS.catalog_api.create_service(service['id'], service)
        endpoint = unit.new_endpoint_ref(
            service['id'], region_id=self.region_id
        )
        PROVIDERS.catalog_api.create_endpoint(endpoint['id'], endpoint)
        credential = unit.new_application_credential_ref(
            roles=[{'id': self.role_id}], secret='secret'
        )
        credential.update(
            user_id=self.user['id'],
            project_id=self.project['id'],
            access_rules=[
                {
                    'id': 'rule',
                    'service': 'identity',
                    'method': 'GET',
                    'path': '/v3/users/*',
                }
            ],
        )
        PROVIDERS.application_credential_api.create_application_credential(
            credential
        )
        token = self.issue(
            project_id=self.project['id'], app_cred_id=credential['id']
        )

        self.ask(token)
        self.get(
            '/users', token=token.id, expected_status=http.client.UNAUTHORIZED
        )


class TokenBodyTests(CallerTestCase):
    """It cannot be told from the whole token."""

    def setUp(self):
        super().setUp()
        self.whole = self.rendered(self.token)
        self.assertEqual(
            [self.service['id']],
            [service['id'] for service in self.whole['catalog']],
        )
        self.done.clear()

    def rendered(self, token):
        return render_token.render_token_response_from_model(token)['token']

    def body(self, token=None):
        return token_body.render(token or self.token)['token']

    def test_other_keys_make_no_catalog(self):
        body = self.body()

        self.assertEqual(self.whole['user'], body['user'])
        self.assertEqual(self.whole['user'], body.get('user'))
        self.assertIn('user', body)
        self.assertNotIn('bind', body)
        self.assertIsNone(body.get('bind'))
        self.assertRaises(KeyError, lambda: body['bind'])
        self.assertEqual({'render_token_response_from_model': 1}, self.done)

    def test_catalog_is_made_once(self):
        body = self.body()

        self.assertEqual(self.whole['catalog'], body['catalog'])
        self.assertEqual(self.whole['catalog'], body.get('catalog'))
        self.assertIn('catalog', body)
        self.assertEqual(self.whole, body)
        self.assertEqual(1, self.done['get_v3_catalog'])

    def test_whatever_is_read_of_it(self):
        for read in (
            lambda body: body['catalog'],
            lambda body: body.get('catalog'),
            lambda body: 'catalog' in body,
            operator.itemgetter('catalog'),
            '{catalog}'.format_map,
            repr,
            str,
            len,
            list,
            lambda body: list(reversed(body)),
            lambda body: list(body.keys()),
            lambda body: list(body.values()),
            lambda body: list(body.items()),
            dict,
            lambda body: {**body},
            lambda body: body | {'more': 1},
            lambda body: {'more': 1} | body,
            lambda body: body == self.whole,
            lambda body: self.whole == body,
            lambda body: body != self.whole,
            lambda body: self.whole != body,
            lambda body: body.copy(),
            copy.copy,
            copy.deepcopy,
            lambda body: pickle.loads(pickle.dumps(body)),
            json.dumps,
            lambda body: json.dumps(body, indent=1),
            jsonutils.dumps,
            msgpackutils.dumps,
        ):
            self.assertEqual(read(self.whole), read(self.body()))

    def test_whatever_is_done_to_it(self):
        def item(body):
            body['more'] = 1

        def delete(body):
            del body['catalog']

        def unite(body):
            body |= {'more': 1}

        for change in (
            item,
            delete,
            unite,
            lambda body: body.update({'catalog': []}),
            lambda body: body.setdefault('catalog', []),
            lambda body: body.pop('catalog'),
            lambda body: body.pop('catalog', None),
            lambda body: body.popitem(),
            lambda body: body.clear(),
        ):
            body, whole = self.body(), copy.deepcopy(self.whole)

            self.assertEqual(change(whole), change(body))
            self.assertEqual(whole, body)
            self.assertEqual(list(whole), list(body))

    def test_copies_are_plain_dictionaries(self):
        for copied in (
            copy.copy(self.body()),
            copy.deepcopy(self.body()),
            pickle.loads(pickle.dumps(self.body())),
        ):
            self.assertIs(dict, type(copied))

    def test_what_was_changed_stays_when_the_catalog_comes(self):
        body = self.body()
        body['user']['name'] = 'another'

        self.assertIn('catalog', body)
        self.assertEqual('another', body['user']['name'])

    def test_token_without_a_catalog(self):
        token = self.issue()
        whole, body = self.rendered(token), self.body(token)

        self.assertNotIn('catalog', body)
        self.assertIsNone(body.get('catalog'))
        self.assertRaises(KeyError, lambda: body['catalog'])
        self.assertEqual(whole, body)

    def test_each_scope(self):
        PROVIDERS.assignment_api.create_system_grant_for_user(
            self.user['id'], self.role_id
        )
        for scope in (
            {'domain_id': self.domain['id']},
            {'system': 'all'},
            {'project_id': self.other_project['id']},
        ):
            token = self.issue(**scope)

            self.assertEqual(self.rendered(token), self.body(token))
            self.assertIn('catalog', self.body(token))

    def test_catalog_that_cannot_be_made(self):
        failure = self.fail_on_catalogs()
        body = self.body()

        for _ in range(2):
            self.assertRaises(failure, lambda: body['catalog'])
            self.assertRaises(failure, json.dumps, body)
        self.assertEqual(self.whole['user'], body['user'])

    def test_rendered_anew_for_another_token(self):
        rendered = {'token': {}}

        self.assertEqual(
            {'token': self.whole}, token_body.reuse(rendered, self.token)
        )
        self.assertIsNot(rendered, token_body.reuse(rendered, self.token))
