# SPDX-License-Identifier: Apache-2.0

import fixtures
import sqlalchemy

from keystone.common import provider_api
from keystone.common import sql
from keystone.revoke import core
from keystone.tests.unit.revoke import base

PROVIDERS = provider_api.ProviderAPIs


class RevocationWorkTests(base.TokenTestCase):
    """What revoking a token with its chain writes."""

    def setUp(self):
        super().setUp()
        # An interval's pruning is not what a revocation costs.
        self.config_fixture.config(group='revoke', prune_interval=0)
        self.inserts, self.commits, self.stamps = [], [], []
        self.token = self.issue(project_id=self.project['id'])
        self.assertValid(self.token)
        engine = sql.core._get_main_context_manager().writer.get_engine()
        self.listen(engine, 'commit', self.commits.append)
        self.listen(engine, 'before_cursor_execute', self.note_insert)

    def listen(self, *event):
        sqlalchemy.event.listen(*event)
        self.addCleanup(sqlalchemy.event.remove, *event)

    def note_insert(self, _connection, _cursor, statement, *_):
        if statement.startswith('INSERT'):
            self.inserts.append(statement)

    def note_stamps(self):
        """Note each new region id from now on."""
        manager = core.REVOKE_REGION.region_invalidator._region_manager
        invalidate = manager.invalidate_region

        def note():
            self.stamps.append(manager)
            return invalidate()

        self.useFixture(
            fixtures.MockPatchObject(manager, 'invalidate_region', note)
        )

    def test_one_insert_and_one_commit(self):
        PROVIDERS.token_provider_api.revoke_token(self.token.id)

        self.assertRevoked(self.token)
        self.assertEqual(
            (1, 1),
            (len(self.inserts), len(self.commits)),
            'A token is revoked by more than one INSERT and one COMMIT.',
        )

    def test_one_stamp(self):
        self.note_stamps()

        PROVIDERS.token_provider_api.revoke_token(self.token.id)

        self.assertEqual(
            1, len(self.stamps), 'A revocation is announced more than once.'
        )
