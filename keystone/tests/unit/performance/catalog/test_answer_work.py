# SPDX-License-Identifier: Apache-2.0

import fixtures
from oslo_serialization import jsonutils

from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.performance.token import work

PROVIDERS = provider_api.ProviderAPIs


def endpoints(catalog):
    """How many endpoints a catalog lists; 0 for any other value."""
    if not isinstance(catalog, list):
        return 0
    return sum(
        len(one['endpoints'])
        for one in catalog
        if isinstance(one, dict) and 'endpoints' in one
    )


class AnswerWorkTests(work.WorkTestCase):
    """Answers that show a catalog neither decode nor encode it."""

    def setUp(self):
        super().setUp()
        for _ in range(20):
            endpoint = unit.new_endpoint_ref(
                self.service_id,
                region_id=None,
                url='https://cloud.example.com/v3/%(project_id)s',
            )
            PROVIDERS.catalog_api.create_endpoint(endpoint['id'], endpoint)
        self.work = work.Work()
        loads, dumps = jsonutils.loads, jsonutils.dumps

        def decoded(*args, **kwargs):
            value = loads(*args, **kwargs)
            self.work['decoded'] += endpoints(value)
            return value

        def encoded(value, *args, **kwargs):
            token = value.get('token') if isinstance(value, dict) else None
            if isinstance(token, dict):
                self.work['encoded'] += endpoints(token.get('catalog'))
            return dumps(value, *args, **kwargs)

        for name, function in (('loads', decoded), ('dumps', encoded)):
            self.useFixture(
                fixtures.MockPatchObject(jsonutils, name, function)
            )

    def ask(self, method, body=None, **headers):
        response = self.v3_request(
            method=method,
            path='/auth/tokens',
            body=body,
            headers=headers,
            token=self.caller,
        )
        self.assertEqual(
            21, len(response.result['token']['catalog'][0]['endpoints'])
        )

    def test_validation(self):
        self.ask('GET', **{'X-Subject-Token': self.issue()})

        self.assertEqual(
            (0, 0),
            (self.work['decoded'], self.work['encoded']),
            'A validation codes each endpoint of its response.',
        )

    def test_rescoping(self):
        body = self.build_authentication_request(
            token=self.caller, project_id=self.project_id
        )
        self.ask('POST', body)

        self.assertEqual(
            (0, 0),
            (self.work['decoded'], self.work['encoded']),
            'A rescoping codes each endpoint of its response.',
        )
