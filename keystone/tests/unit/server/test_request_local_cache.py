# SPDX-License-Identifier: Apache-2.0

import collections
import http.client

from dogpile.cache.backends import memory
import fixtures
from oslo_context import context as oslo_context

from keystone.common import cache
from keystone.common.cache import request_local
from keystone.common import context
from keystone.common import provider_api
from keystone.models import revoke_model
from keystone.revoke import core
from keystone.tests.unit import test_v3
from keystone.token import provider

PROVIDERS = provider_api.ProviderAPIs


class RequestLocalCacheTests(test_v3.RestfulTestCase):
    """What a request has cached for itself does not outlive it."""

    def setUp(self):
        # Upstream's tests of the cache leave a backend without such a cache.
        if cache.CACHE_INVALIDATION_REGION.is_configured:
            del cache.CACHE_INVALIDATION_REGION.backend
        super().setUp()

    def elsewhere(self, function, *args, **kwargs):
        """Call a function as another worker does, with its own context."""
        ours = oslo_context.get_current()
        oslo_context.RequestContext(overwrite=True)
        try:
            return function(*args, **kwargs)
        finally:
            ours.update_store()

    def revoke_user(self):
        """Revoke without a word to the managers of this process."""
        PROVIDERS.revoke_api.driver.revoke(
            revoke_model.RevokeEvent(user_id=self.user_id)
        )
        core.REVOKE_REGION.invalidate()
        provider.TOKENS_REGION.invalidate()

    def ask(self, token, expected_status):
        """Validate a token for itself, as the caller and as the subject."""
        self.get(
            '/auth/tokens',
            token=token,
            headers={'X-Subject-Token': token},
            expected_status=expected_status,
        )

    def test_caller_whose_token_was_revoked_elsewhere(self):
        token = self.get_scoped_token()
        self.ask(token, http.client.OK)

        self.elsewhere(self.revoke_user)

        self.ask(token, http.client.UNAUTHORIZED)

    def test_caller_who_lost_the_role_elsewhere(self):
        token = self.get_scoped_token()
        self.ask(token, http.client.OK)

        self.elsewhere(
            PROVIDERS.assignment_api.delete_grant,
            self.role_id,
            user_id=self.user_id,
            project_id=self.project_id,
        )

        self.ask(token, http.client.UNAUTHORIZED)

    def test_a_request_asks_the_cache_for_a_key_once(self):
        token = self.get_scoped_token()
        self.ask(token, http.client.OK)
        asked = collections.Counter()
        backend = memory.MemoryBackend
        get, get_multi = backend.get, backend.get_multi

        def count_one(self, key):
            asked[key] += 1
            return get(self, key)

        def count_each(self, keys):
            asked.update(keys)
            return get_multi(self, keys)

        for name, count in (('get', count_one), ('get_multi', count_each)):
            self.useFixture(fixtures.MockPatchObject(backend, name, count))
        self.ask(token, http.client.OK)

        self.assertEqual({1}, set(asked.values()))

    def test_begin_again(self):
        environ = {}
        request_local.begin(environ)
        first = request_local.current()
        oslo_context.RequestContext(overwrite=True)

        request_local.begin(environ)

        self.assertIs(first, request_local.current())

    def test_begin_another(self):
        request_local.begin({})
        first = request_local.current()

        request_local.begin({})

        self.assertIsNot(first, request_local.current())

    def test_no_request(self):
        oslo_context.RequestContext(overwrite=True)
        self.assertIsNone(request_local.current())

    def test_the_context_that_takes_the_place_is_of_the_request(self):
        environ = {}
        request_local.begin(environ)
        later = context.RequestContext(overwrite=True)
        self.assertIsNone(request_local.current())

        request_local.keep(environ, later)

        self.assertIs(later, request_local.current())
