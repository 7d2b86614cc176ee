# SPDX-License-Identifier: Apache-2.0

import copy
import json
import operator
import pickle
import sys

from oslo_serialization import jsonutils
from oslo_serialization import msgpackutils

from keystone.common import provider_api
from keystone.common import render_token
from keystone.common import token_body
from keystone.tests.unit.server import caller_base

PROVIDERS = provider_api.ProviderAPIs


class TokenBodyTests(caller_base.CallerTestCase):
    """It cannot be told from the whole token."""

    def setUp(self):
        super().setUp()
        self.whole = self.rendered(self.token)
        # Nothing depends on its place.
        self.whole['catalog'] = self.whole.pop('catalog')
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

    def test_other_keys_stay_while_the_catalog_is_made(self):
        """Another thread may read them at any step."""
        body, found = self.body(), []

        def trace(*_step):
            found.append(dict.__contains__(body, 'user'))
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            body['catalog']
        finally:
            sys.settrace(before)

        self.assertLess(10, len(found))
        self.assertTrue(all(found))

    def test_rendered_anew_for_another_token(self):
        rendered = {'token': {}}

        self.assertEqual(
            {'token': self.whole}, token_body.reuse(rendered, self.token)
        )
        self.assertIsNot(rendered, token_body.reuse(rendered, self.token))
