# SPDX-License-Identifier: Apache-2.0

"""Requests that carry, or meet, a token that is not their user's own.

The request made here is one that an application credential's token may not
make: delete an application credential. There is none of the name given, so
that it gets 404 where it is allowed and 403 where it is not.
"""

import collections
from concurrent import futures
import itertools

from tempest import config
from tempest.lib import decorators
from tempest.lib.common.utils import data_utils

from revcache_tempest_plugin.tests.api import base

CONF = config.CONF


class RequestIsolationTest(base.PromiseTestCase):
    promise = 'request_isolation'

    def setUp(self):
        super().setUp()
        self.person = self.member(place := self.project())
        self.path = f'/users/{self.person["user_id"]}/application_credentials'
        self.plain = self.log_in(self.person, 'a token', project_id=place)
        self.limited = self.log_in_with(
            self.application_credential(self.person, self.plain),
            'a limited token',
        )

    def ask(self, token, **others):
        """Make the request and return its status."""
        path = f'{self.path}/{data_utils.rand_uuid_hex()}'
        return self.call('DELETE', path, token, **others)[0]

    @decorators.idempotent_id('b913c64e-0f7b-4a4b-8d05-d8a2f47e63e1')
    def test_service_token_lifts_no_restriction(self):
        status = self.ask(self.limited, service_token=self.plain)
        if status != 403:
            self.broken(
                f'a service token beside it got a limited token {status}, '
                f'not 403'
            )

    @decorators.idempotent_id('57d2a8f1-94c3-4e0a-b6b8-0e3c7f5194f2')
    def test_service_token_adds_no_restriction(self):
        status = self.ask(self.plain, service_token=self.limited)
        if status != 404:
            self.broken(
                f"a service token beside it got a user's own token {status}, "
                f'not 404'
            )

    @decorators.idempotent_id('e85c1f6a-3b70-4d29-9c4f-fa61d0b2a703')
    def test_requests_at_the_same_time(self):
        tokens = itertools.cycle([self.plain, self.limited])
        asked = list(itertools.islice(tokens, CONF.revcache.requests))
        with futures.ThreadPoolExecutor(CONF.revcache.concurrency) as pool:
            answers = collections.Counter(
                zip(
                    (token.name for token in asked),
                    pool.map(self.ask, asked),
                    strict=True,
                )
            )
        lifted = answers[self.limited.name, 404]
        added = answers[self.plain.name, 403]
        if lifted or added:
            self.broken(
                f'{lifted} of {len(asked)} requests with a limited token '
                f'were allowed and {added} with a full token were forbidden'
            )
        self.assertEqual(
            {(self.plain.name, 404), (self.limited.name, 403)}, set(answers)
        )
