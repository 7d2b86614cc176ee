# SPDX-License-Identifier: Apache-2.0

"""Counts of what a request does."""

import collections
import contextlib
import logging

from dogpile.cache import region
import fixtures
import sqlalchemy

from keystone.catalog import core as catalog
from keystone.common import cache
from keystone.common import provider_api
from keystone.common import render_token
from keystone.common import sql
from keystone.models import token_model
from keystone.tests import unit
from keystone.tests.unit.ksfixtures import shared_cache
from keystone.tests.unit import test_v3
from keystone.token import provider

PROVIDERS = provider_api.ProviderAPIs

# Kind of work, and the function whose calls are counted.
_CALLS = (
    ('validations', provider.Manager, '_validate_token'),
    ('rendered', render_token, 'render_token_response_from_model'),
    ('catalogs', catalog.Manager, 'get_v3_catalog'),
    ('roles', token_model.TokenModel, '_get_project_roles'),
)


class Work(collections.Counter):
    """What was done: {kind of work: how often}."""

    def count(self, kind, function):
        """A function that counts its calls and then does what another does."""

        def counted(*args, **kwargs):
            self[kind] += 1
            return function(*args, **kwargs)

        return counted


class WorkTestCase(test_v3.RestfulTestCase):
    """A cloud with a catalog, a service user, and users with tokens."""

    def setUp(self):
        super().setUp()
        # As a service logs, and shares a cache.
        log = logging.getLogger('oslo_policy')
        self.addCleanup(log.setLevel, log.level)
        log.setLevel(logging.INFO)
        self.useFixture(shared_cache.SharedCache(self.config_fixture))
        # A service user has the role that implies all others.
        roles = [self.role, *(unit.new_role_ref() for _ in range(3))]
        for role in roles[1:]:
            PROVIDERS.role_api.create_role(role['id'], role)
        for role, implied in zip(roles, roles[1:], strict=False):
            PROVIDERS.role_api.create_implied_role(role['id'], implied['id'])
        self.caller = self.get_scoped_token()

    def issue(self):
        """A token of a user of its own."""
        user = unit.create_user(
            PROVIDERS.identity_api, domain_id=self.domain['id']
        )
        PROVIDERS.assignment_api.create_grant(
            self.role_id, user_id=user['id'], project_id=self.project_id
        )
        return self.get_requested_token(
            self.build_authentication_request(
                user_id=user['id'],
                password=user['password'],
                project_id=self.project_id,
            )
        )

    def issue_to_caller(self):
        """One more token of the caller."""
        return self.get_scoped_token()

    def get_token(self, token, query=''):
        """Validate a token; what that took."""
        with self.counted() as work:
            self.get(
                f'/auth/tokens{query}',
                token=self.caller,
                headers={'X-Subject-Token': token},
            )
        return work

    def delete_token(self, token):
        """Revoke a token; what that took."""
        with self.counted() as work:
            self.delete(
                '/auth/tokens',
                token=self.caller,
                headers={'X-Subject-Token': token},
            )
        return work

    @contextlib.contextmanager
    def counted(self):
        """Count what is done in the block.

        ``validations`` of tokens; tokens ``rendered``; ``catalogs`` asked
        for; times that ``roles`` were resolved; ``lookups`` in memoized
        functions; SQL ``statements`` and ``commits``. The callers in it are
        not known from before.
        """
        work = Work()
        shared_cache.forget_records()

        def count_statement(_connection, _cursor, statement, *_):
            # SQLite is told of each transaction.
            work['statements'] += not statement.startswith('BEGIN')

        engine = sql.core._get_main_context_manager().writer.get_engine()
        events = [
            (engine, 'before_cursor_execute', count_statement),
            (engine, 'commit', lambda _connection: work.update(commits=1)),
        ]
        look_up = region.CacheRegion.get_or_create

        def count_lookup(of, *args, **kwargs):
            work['lookups'] += of is not cache.CACHE_INVALIDATION_REGION
            return look_up(of, *args, **kwargs)

        patches = [
            (region.CacheRegion, 'get_or_create', count_lookup),
            *(
                (where, name, work.count(kind, getattr(where, name)))
                for kind, where, name in _CALLS
            ),
        ]
        with contextlib.ExitStack() as stack:
            for patch in patches:
                stack.enter_context(fixtures.MockPatchObject(*patch))
            for event in events:
                sqlalchemy.event.listen(*event)
                stack.callback(sqlalchemy.event.remove, *event)
            yield work
