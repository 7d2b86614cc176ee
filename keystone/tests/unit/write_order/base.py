# SPDX-License-Identifier: Apache-2.0

import contextlib
import contextvars
import functools
import threading

import fixtures
from oslo_context import context as oslo_context

from keystone.common import cache
from keystone.common import provider_api
import keystone.exception
from keystone.tests.unit.revoke import base

PROVIDERS = provider_api.ProviderAPIs


class WriteOrderTestCase(base.TokenTestCase):
    """Reads by other workers, at the worst moment of a write.

    Workers share cache and database, and have a request-local cache each.
    """

    def elsewhere(self, function, *args, **kwargs):
        """Call a function as another worker does, with its own context."""
        ours = oslo_context.get_current()
        oslo_context.RequestContext(overwrite=True)
        try:
            return contextvars.Context().run(function, *args, **kwargs)
        finally:
            if ours is not None:
                ours.update_store()

    @contextlib.contextmanager
    def read_before(self, driver, method, read, *args):
        """Have another worker read before a driver writes.

        The reader is done before the write is. What it has cached is old
        from then on.
        """
        reads = []

        def read_then_write(write, *write_args, **kwargs):
            reads.append(self.elsewhere(read, *args))
            return write(*write_args, **kwargs)

        with self.replaced(driver, method, read_then_write):
            yield
        self.assertNotEqual([], reads)

    def read_across(self, driver, method, read, write):
        """Have another worker read before a write, and cache it afterwards.

        The reader asks the driver, then the write happens from beginning to
        end, then the reader goes on with the answer.
        """
        # One thread stands for two workers, which know no common locks.
        self.useFixture(
            fixtures.MockPatchObject(
                cache.CACHE_REGION.backend,
                'get_mutex',
                lambda key: threading.RLock(),
            )
        )
        writes = [write]

        def ask_then_write(ask, *args, **kwargs):
            answer = ask(*args, **kwargs)
            if writes:
                self.elsewhere(writes.pop())
            return answer

        with self.replaced(driver, method, ask_then_write):
            self.elsewhere(read)
        self.assertEqual([], writes)

    @contextlib.contextmanager
    def replaced(self, driver, method, function):
        """Call a function with a driver's method in front, instead of it."""
        original = getattr(driver, method)
        with fixtures.MockPatchObject(
            driver, method, functools.partial(function, original)
        ):
            yield

    def validate(self, token):
        return PROVIDERS.token_provider_api.validate_token(token.id)

    def assertRefused(self, token, error=keystone.exception.TokenNotFound):
        """Another worker does not accept a token."""
        self.assertRaises(error, self.elsewhere, self.validate, token)

    def assertAccepted(self, token):
        """Another worker accepts a token."""
        self.elsewhere(self.assertValid, token)
