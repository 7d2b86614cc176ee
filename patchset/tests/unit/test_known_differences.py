# SPDX-License-Identifier: Apache-2.0

"""Differences of the random walk that topics explain."""

import testtools

from patchset.walk import answers
from patchset.walk import known_differences
from patchset.walk import readings
from patchset.walk import steps


class KnownDifferencesTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        topics = ('federated-token-chain', 'idp-revocation')
        self.known = known_differences.KnownDifferences(topics)

    def record(self, operation, **arguments):
        self.known.record(steps.Step(operation, arguments))

    def topic(self, stock, patched, subject='t2'):
        return self.known.topic(
            answers.Difference(
                readings.Request('/auth/tokens', 'by-admin', subject),
                'stock', stock, 'patched', patched,
            )
        )  # fmt: skip

    def token(self, *audit_ids, **values):
        return 200, {'token': {'audit_ids': audit_ids, **values}}

    def test_the_chain_of_a_federated_token(self):
        answers = self.token('a'), self.token('a', 'b')
        self.assertIsNone(self.topic(*answers))

        self.record('sign_in_federated', token='t1')
        self.record('rescope', token='t2', source='t1')
        self.record('rescope', token='t3', source='t2')

        for subject in ('t2', 't3'):
            self.assertEqual(
                'federated-token-chain', self.topic(*answers, subject)
            )
        for subject in ('t1', 't4'):
            self.assertIsNone(self.topic(*answers, subject))
        rejected = self.token('a'), (404, None)
        self.record('revoke_alone', token='t3')
        self.assertIsNone(self.topic(*rejected))
        self.record('revoke', token='t3')
        for subject in ('t1', 't2', 't3'):
            self.assertEqual(
                'federated-token-chain', self.topic(*rejected, subject)
            )
        self.assertIsNone(self.topic(*rejected, 't4'))
        self.assertIsNone(self.topic((404, None), self.token('a')))
        self.assertIsNone(
            self.topic(self.token('a', roles=1), self.token('a', roles=2))
        )

    def test_the_end_of_an_identity_provider(self):
        rejected = self.token('a'), (404, None)
        self.record('sign_in_federated', token='t1', provider='idp1')
        self.record('rescope', token='t2', source='t1')
        self.record('sign_in_federated', token='t3', provider='idp2')
        self.assertIsNone(self.topic(*rejected))

        self.record('disable_provider', provider='idp1')

        for subject in ('t1', 't2'):
            self.assertEqual('idp-revocation', self.topic(*rejected, subject))
        for subject in ('t3', 't4'):
            self.assertIsNone(self.topic(*rejected, subject))
        self.assertIsNone(self.topic((404, None), self.token('a'), 't1'))

    def test_older_releases(self):
        rejected = self.token(), (404, None)
        forbidden = self.token(), (403, None)
        shown = self.token(methods=[]), self.token(methods=['ec2credential'])
        for topics in ((), ('revoke-derived-tokens', 'ec2-token-methods')):
            self.known = known_differences.KnownDifferences(topics)
            self.record('issue', token='t1')
            self.record('rescope', token='t2', source='t1')
            self.assertIsNone(self.topic(*rejected))
            self.record('revoke', token='t1')
            self.record('use_key', token='t3')
            derived, ec2 = topics or (None, None)
            self.assertEqual(derived, self.topic(*rejected))
            self.assertEqual(ec2, self.topic(*shown, 't3'))
            self.assertEqual(ec2, self.topic(*forbidden, 't3'))
            self.assertIsNone(self.topic(*rejected, 't3'))
            self.assertIsNone(self.topic(*shown))
            self.assertIsNone(self.topic(*forbidden))
