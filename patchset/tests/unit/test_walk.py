# SPDX-License-Identifier: Apache-2.0

"""The stories of the random walk, and how answers are compared."""

import collections
import json
import random
import socket
import types

import testtools

from patchset.client import Answer
from patchset.walk import answers
from patchset.walk import beginning
from patchset.walk import differences
from patchset.walk import rig
from patchset.walk import side
from patchset.walk import story

_ID = '0123456789abcdef' * 2
_OTHER = 'fedcba9876543210' * 2


class StoryTestCase(testtools.TestCase):
    def steps(self, seed, without=()):
        dice = story.Dice(random.Random(seed), without)
        return [dice.step(number, ['t1', 't2']) for number in range(500)]

    def test_a_seed_is_one_story(self):
        self.assertEqual(self.steps(1), self.steps(1))
        self.assertNotEqual(self.steps(1), self.steps(2))

    def test_everything_happens(self):
        happened = {
            step.operation for seed in range(9) for step in self.steps(seed)
        }
        self.assertEqual(story.OPERATIONS.keys(), happened)

    def test_without_kinds(self):
        for step in self.steps(1, ['users', 'grants']):
            kind = story.OPERATIONS[step.operation].kind
            self.assertNotIn(kind, ('users', 'grants'))

    def test_what_a_step_is_about(self):
        step = story.Step(
            'grant', {'holder': 'users:u1', 'target': None, 'role': 'r1'}, 1
        )
        self.assertEqual({'users', 'u1', 'r1'}, step.names)
        self.assertEqual(
            'grant holder=users:u1 target=None role=r1 (node 2)', str(step)
        )

    def test_the_beginning_is_made_of_operations(self):
        for step in beginning.steps():
            choices = story.OPERATIONS[step.operation].choices
            self.assertEqual(choices.keys(), step.arguments.keys(), step)


class AnswersTestCase(testtools.TestCase):
    def side(self, **names):
        return types.SimpleNamespace(names=names)

    def token(self, **values):
        return Answer(200, {'token': values})

    def test_of_two_clouds(self):
        def answer(user, moment):
            return self.token(
                user={'id': user}, issued_at=moment, audit_ids=[moment],
                catalog=[{'url': f'http://127.0.0.1:{moment}/{user}'}],
            )  # fmt: skip

        stock = answers.alike(answer(_ID, 1), self.side(**{_ID: 'u1'}))
        patched = answers.alike(answer(_OTHER, 2), self.side(**{_OTHER: 'u1'}))
        self.assertEqual(stock, patched)
        other = answers.alike(answer(_OTHER, 2), self.side(**{_OTHER: 'u2'}))
        self.assertNotEqual(stock, other)

    def test_repeated_roles_of_two_clouds(self):
        def answer(*roles):
            token = self.token(roles=[{'name': role} for role in roles])
            return answers.alike(token, self.side())

        self.assertEqual(answer('r1', 'r1', 'r2'), answer('r2', 'r1'))
        self.assertNotEqual(answer('r1', 'r1'), answer('r1', 'r2'))

    def test_of_a_token_that_is_refused(self):
        one, other = (
            answers.exact(Answer(404, {'error': {'message': message}}))
            for message in (
                'Could not find token: gAAAAABq_x-1==.',
                'Failed to validate token',
            )
        )
        self.assertEqual(one, other)

    def test_of_one_cloud(self):
        first = self.token(user={'id': _ID}, roles=[{'id': 1}, {'id': 2}])
        turned = self.token(user={'id': _ID}, roles=[{'id': 2}, {'id': 1}])
        self.assertEqual(answers.exact(first), answers.exact(turned))
        for other in (
            self.token(user={'id': _OTHER}, roles=[{'id': 1}, {'id': 2}]),
            self.token(user={'id': _ID}, roles=[{'id': 1}]),
            Answer(404, first.body),
            Answer(200, first.body, {'vary': 'X-Auth-Token'}),
        ):
            self.assertNotEqual(answers.exact(first), answers.exact(other))

    def test_differences_show_no_token(self):
        secret = 'gAAAAA-a-secret'
        headers = {'x-subject-token': secret, 'x-openstack-request-id': 'one'}
        given = {
            rig.NODES[0]: Answer(200, {'token': {}}, headers),
            rig.NODES[1]: Answer(200, {'token': {}}, headers),
            rig.TRUTH: Answer(404, {'error': {}}, {}),
        }
        question = answers.Question('t1', 't2')
        found = list(answers.of_nodes(question, given))
        self.assertEqual(2, len(found))
        self.assertEqual(('node 1', 200, rig.TRUTH, 404), found[0].kind)
        self.assertIn('of t1 by t2', str(found[0]))
        self.assertNotIn(secret, json.dumps(list(map(str, found))))
        given[rig.TRUTH] = given[rig.NODES[0]]
        self.assertEqual([], list(answers.of_nodes(question, given)))


class QuestionsTestCase(testtools.TestCase):
    def test_each_token_is_asked_about_twice(self):
        names = [f't{number}' for number in range(4)]
        tokens = {name: side.Token('secret', side.SELF) for name in names}
        one = types.SimpleNamespace(tokens=tokens, keys={})
        asked = answers.questions(one, names)
        self.assertEqual(
            dict.fromkeys(names, 2),
            collections.Counter(one.subject for one in asked),
        )
        self.assertEqual(
            {
                ('GET', ''),
                ('GET', '?nocatalog'),
                ('GET', '?allow_expired=1'),
                ('GET', '?nocatalog&allow_expired=1'),
                ('HEAD', ''),
            },
            {(one.method, one.query) for one in asked},
        )

    def test_each_key_signs_a_request(self):
        one = types.SimpleNamespace(tokens={}, keys={'k1': ('a', 'b')})
        (question,) = answers.questions(one, [])
        first, other = (
            Answer(200, {'token': {'audit_ids': [word], 'expires_at': word}})
            for word in ('one', 'two')
        )
        self.assertEqual(
            answers.exact(first, question.is_exact),
            answers.exact(other, question.is_exact),
        )
        other.body['token']['user'] = {'id': _ID}
        self.assertNotEqual(
            answers.exact(first, question.is_exact),
            answers.exact(other, question.is_exact),
        )
        first.body['token']['user'] = {'id': _OTHER}
        self.assertNotEqual(
            answers.exact(first, question.is_exact),
            answers.exact(other, question.is_exact),
        )


class CountersTestCase(testtools.TestCase):
    def test_sums(self):
        with rig.Counters() as one:
            address = one.options['statsd_host'], one.options['statsd_port']
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                for packet in (b'a.hit:2|c\nb.hit:1|c', b'a.size:7|g'):
                    sender.sendto(packet, address)
        self.assertEqual({'hit': 3}, one.counts)


class KnownDifferencesTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.known = differences.Known()

    def note(self, operation, **arguments):
        self.known.note(story.Step(operation, arguments))

    def topic(self, stock, patched, subject='t2'):
        return self.known.topic(
            answers.Difference(
                answers.Question(subject, 'by-admin'),
                'stock', stock, 'patched', patched,
            )
        )  # fmt: skip

    def token(self, *audit_ids, **values):
        return 200, {'token': {'audit_ids': audit_ids, **values}}

    def test_the_chain_of_a_federated_token(self):
        answers = self.token('a'), self.token('a', 'b')
        self.assertIsNone(self.topic(*answers))

        self.note('sign_in_federated', token='t1')
        self.note('rescope', token='t2', source='t1')
        self.note('rescope', token='t3', source='t2')

        for subject in ('t2', 't3'):
            self.assertEqual(
                'federated-token-chain', self.topic(*answers, subject)
            )
        for subject in ('t1', 't4'):
            self.assertIsNone(self.topic(*answers, subject))
        refused = self.token('a'), (404, None)
        self.note('revoke_alone', token='t3')
        self.assertIsNone(self.topic(*refused))
        self.note('revoke', token='t3')
        for subject in ('t1', 't2', 't3'):
            self.assertEqual(
                'federated-token-chain', self.topic(*refused, subject)
            )
        self.assertIsNone(self.topic(*refused, 't4'))
        self.assertIsNone(self.topic((404, None), self.token('a')))
        self.assertIsNone(
            self.topic(self.token('a', roles=1), self.token('a', roles=2))
        )

    def test_the_end_of_an_identity_provider(self):
        refused = self.token('a'), (404, None)
        self.note('sign_in_federated', token='t1', provider='idp1')
        self.note('rescope', token='t2', source='t1')
        self.note('sign_in_federated', token='t3', provider='idp2')
        self.assertIsNone(self.topic(*refused))

        self.note('disable_provider', provider='idp1')

        for subject in ('t1', 't2'):
            self.assertEqual('idp-revocation', self.topic(*refused, subject))
        for subject in ('t3', 't4'):
            self.assertIsNone(self.topic(*refused, subject))
        self.assertIsNone(self.topic((404, None), self.token('a'), 't1'))
