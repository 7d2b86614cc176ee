# SPDX-License-Identifier: Apache-2.0

import json
import logging
import os
import random

import fixtures
from oslo_context import context as oslo_context

from keystone.tests.unit.validation_cache import base
from keystone.tests.unit.validation_cache import world

# More on demand; another seed tells other stories.
STORIES = 4
STEPS = int(os.environ.get('KEYSTONE_VALIDATION_STEPS', 2000)) // STORIES
SEED = int(os.environ.get('KEYSTONE_VALIDATION_SEED', 1))

_QUERIES = (
    *[''] * 8, 'nocatalog', 'nocatalog', 'allow_expired=1',
    'nocatalog&allow_expired=1',
)  # fmt: skip


class DifferentialTests(base.ValidationCacheTestCase):
    """Whatever happens, the cache answers what would be answered past it."""

    cache_on_issue = True

    def config_overrides(self):
        super().config_overrides()
        folder = self.useFixture(fixtures.TempDir()).path
        self.policy_path = os.path.join(folder, 'policy.yaml')
        with open(self.policy_path, 'w') as stream:
            stream.write('"a": "@"\n')
        self.config_fixture.config(
            group='oslo_policy', policy_file=self.policy_path
        )
        # A failure there would take the database in memory along.
        self.config_fixture.config(group='revoke', prune_interval=0)
        # So would a new connection, on a machine that is slow.
        self.config_fixture.config(
            group='database', connection_recycle_time=3600
        )

    def on_a_fresh_context(self, function, *args):
        oslo_context.RequestContext(overwrite=True)
        return function(*args)

    def test_first_story(self):
        self.tell(f'{SEED}.1')

    def test_second_story(self):
        self.tell(f'{SEED}.2')

    def test_third_story(self):
        self.tell(f'{SEED}.3')

    def test_fourth_story(self):
        self.tell(f'{SEED}.4')

    def tell(self, seed):
        """Let random things happen, and compare the answers after each."""
        # Thousands of requests would flood the log.
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
        dice = random.Random(seed)
        cloud = world.World(self, dice, self.policy_path)
        cloud.tokens.append(self.token)
        self.cache.counts.clear()
        done, truths = [], {}
        for step in range(STEPS):
            if not dice.randrange(24):
                done.append(cloud.happen())
                truths.clear()
            self.compare(cloud, dice, truths, (seed, step, done[-5:]))

        counts = self.cache.counts
        # Most of them were about something: see what it was.
        self.assertLess(STEPS / 8, counts['hit'], counts)
        self.assertLess(0, counts["made"], counts)
        for name in ('changed', 'revoked'):
            self.assertLess(0, counts[f'miss: {name}'], counts)

    def compare(self, cloud, dice, truths, about):
        """Ask a random question both ways.

        :param truths: answers past the cache since something has happened
        """
        subject = dice.choice(cloud.tokens)
        caller = dice.choice((subject, self.token))
        method = dice.choice(('GET', 'GET', 'GET', 'HEAD'))
        query = dice.choice(_QUERIES) if method == 'GET' else ''
        asked = (subject, caller, method, query)
        ours = self.ask(subject, caller, method, QUERY_STRING=query)
        if asked not in truths:
            truths[asked] = self.ask_past(
                subject, caller, method, QUERY_STRING=query
            )
        self.assertEqual(_comparable(truths[asked]), _comparable(ours), about)
        if not ours[0].startswith('200') and not dice.randrange(4):
            # There is little more to learn about what is gone.
            cloud.forget_token(subject)


def _comparable(answer):
    """Status, headers but for the request id, and body.

    Roles and methods come in no order.
    """
    status, headers, body = answer
    headers = [
        (name, value)
        for name, value in headers
        if name.lower() != 'x-openstack-request-id'
    ]
    if b'"roles"' in body:
        body = json.loads(body)
        body['token']['roles'].sort(key=str)
        body['token']['methods'].sort()
    return status, headers, body
