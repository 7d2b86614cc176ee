# SPDX-License-Identifier: Apache-2.0

import fixtures
from oslo_serialization import jsonutils

from keystone.catalog import content
from keystone.common import provider_api
from keystone.tests.performance.token import work
from keystone.tests import unit

PROVIDERS = provider_api.ProviderAPIs


def endpoints(value):
    """How many endpoints there are to encode, if it is an answer."""
    answer = value.get('token') if isinstance(value, dict) else None
    catalog = answer.get('catalog') if isinstance(answer, dict) else None
    if not isinstance(catalog, list):
        return 0
    return sum(len(service['endpoints']) for service in catalog)


class AnswerWorkTests(work.WorkTestCase):
    """Answers that show a catalog make no part of it."""

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
        at = self.work.count('endpoints', content.Endpoint.at)
        self.useFixture(fixtures.MockPatchObject(content.Endpoint, 'at', at))
        dumps = jsonutils.dumps

        def counted(value, *args, **kwargs):
            self.work['encoded'] += endpoints(value)
            return dumps(value, *args, **kwargs)

        self.useFixture(fixtures.MockPatchObject(jsonutils, 'dumps', counted))

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
            (self.work['endpoints'], self.work['encoded']),
            'A validation creates each endpoint of its response.',
        )

    def test_rescoping(self):
        body = self.build_authentication_request(
            token=self.caller, project_id=self.project_id
        )
        self.ask('POST', body)

        self.assertEqual(
            (0, 0),
            (self.work['endpoints'], self.work['encoded']),
            'A rescoping creates each endpoint of its response.',
        )
