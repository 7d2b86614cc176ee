# SPDX-License-Identifier: Apache-2.0

import http.client

from oslo_policy import policy

from keystone.common import context
from keystone.common import provider_api
from keystone.common import render_token
import keystone.conf
from keystone.tests import unit
from keystone.tests.unit.server import caller_base

PROVIDERS = provider_api.ProviderAPIs


CONF = keystone.conf.CONF


class RequestTests(caller_base.CallerTestCase):
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
