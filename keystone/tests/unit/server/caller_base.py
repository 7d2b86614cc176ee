# SPDX-License-Identifier: Apache-2.0

import collections
import logging

import fixtures

from keystone.catalog import core as catalog
from keystone.common import render_token
from keystone.tests.unit.revoke import base


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
