# SPDX-License-Identifier: Apache-2.0

import http.client
import logging

import fixtures

from keystone.common.cache import stores
from keystone.tests.unit.ksfixtures import shared_cache
from keystone.tests.unit import test_v3

_METHODS = ('get_many', 'add', 'replace', 'set', 'delete')


class RoundTripsMixin:
    """Notes the round trips to a cache server.

    The server is a dictionary in memory, and the calls to it are noted in
    ``trips``. There is a token of the ``caller``.
    """

    def setUp(self):
        super().setUp()
        self.useFixture(shared_cache.SharedCache(self.config_fixture))
        # Requests with debug logging are processed normally.
        logger = logging.getLogger('keystone')
        self.addCleanup(logger.setLevel, logger.level)
        logger.setLevel(logging.INFO)
        # Who prunes revocation events is asked of a server that is there.
        self.config_fixture.config(group='revoke', prune_interval=0)
        self.caller = self.get_scoped_token()
        self.trips = []
        for name in _METHODS:
            self.note(name)

    def note(self, name):
        """Note each call of a method of the store."""
        method = getattr(stores.ProcessStore, name)

        def note(store, *args, **copies):
            # One that makes use of others asks the server once.
            if args:  # otherwise, copies on other servers, of which is none
                self.trips.append(name)
            before = len(self.trips)
            try:
                return method(store, *args, **copies)
            finally:
                del self.trips[before:]

        self.useFixture(
            fixtures.MockPatchObject(stores.ProcessStore, name, note)
        )


class RoundTripsTests(RoundTripsMixin, test_v3.RestfulTestCase):
    """What a request costs, in round trips to the cache server."""

    def count(self, method, token, expected_status):
        """The calls that one request about a token makes."""
        del self.trips[:]
        method(
            '/auth/tokens',
            token=self.caller,
            headers={'X-Subject-Token': token},
            expected_status=expected_status,
        )
        return list(self.trips)

    def validate(self, token):
        return self.count(self.get, token, http.client.OK)

    def revoke(self, token):
        return self.count(self.delete, token, http.client.NO_CONTENT)

    def test_warm_validation(self):
        token = self.get_scoped_token()
        self.validate(token)
        self.validate(token)
        self.assertEqual(['get_many'], self.validate(token))

    def test_validation_after_a_revocation(self):
        tokens = [self.get_scoped_token() for _ in range(2)]
        for token in (*tokens, *tokens):
            self.validate(token)
        self.revoke(tokens[0])
        self.assertEqual(['get_many'], self.validate(tokens[1]))

    def test_validation_that_another_process_has_made(self):
        token = self.get_scoped_token()
        self.validate(token)
        self.validate(token)
        shared_cache.forget_in_process()
        # The records, and their facts.
        self.assertEqual(['get_many'] * 2, self.validate(token))
        self.assertEqual(['get_many'], self.validate(token))

    def issue(self, **asked):
        """Issue a token.

        :returns: the token, and the calls that the request makes
        """
        body = self.build_authentication_request(**asked)
        del self.trips[:]
        token = self.get_requested_token(body)
        return token, list(self.trips)

    def test_validation_of_a_token_that_was_issued(self):
        token = self.get_scoped_token()
        self.assertEqual(['get_many'], self.validate(token))

    def test_token_for_a_token(self):
        parent = self.get_scoped_token()
        for _ in range(3):
            _token, names = self.issue(
                token=parent, project_id=self.project_id
            )
        # The project of the scope, then the parent's facts, which are most of
        # what the new token rests on; two where they are read ahead.
        self.assertIn(
            names, [['get_many'] * number + ['set'] for number in (2, 4)]
        )

    def test_first_validation_of_a_token(self):
        self.config_fixture.config(group='token', cache_on_issue=False)
        for _ in range(2):
            self.validate(self.get_scoped_token())
        names = self.validate(self.get_scoped_token())
        # The record is leased, stored and given back, with its facts and
        # the catalog looked up in between.
        self.assertEqual(
            ['add', 'delete', 'set'],
            sorted(name for name in names if name != 'get_many'),
        )
        self.assertLess(len(names), 25)

    def test_revocation(self):
        token = self.get_scoped_token()
        self.validate(token)
        self.validate(token)
        names = self.revoke(token)
        # The id of the events' region, and that of tokens for other releases,
        # for each event that is recorded. An id with a base replaces another.
        self.assertIn(names.count('set') + names.count('replace'), (2, 4))
        self.assertNotIn('delete', names)
