# SPDX-License-Identifier: Apache-2.0

"""The steps of the random walk, and the comparison of responses."""

import collections
import json
import random
import socket
import types

import testtools

from patchset.client import Answer
from patchset.walk import answers
from patchset.walk import initial_steps
from patchset.walk import readings
from patchset.walk import steps
from patchset.walk import testbed
from patchset.walk.names import SELF

_ID = '0123456789abcdef' * 2
_OTHER = 'fedcba9876543210' * 2


class StepsTestCase(testtools.TestCase):
    def sequence(self, seed, without=()):
        generator = steps.Generator(random.Random(seed), without)
        return [generator.step(number, ['t1', 't2']) for number in range(500)]

    def test_a_seed_determines_the_steps(self):
        self.assertEqual(self.sequence(1), self.sequence(1))
        self.assertNotEqual(self.sequence(1), self.sequence(2))

    def test_everything_happens(self):
        happened = {
            step.operation for seed in range(9) for step in self.sequence(seed)
        }
        self.assertEqual(steps.OPERATIONS.keys(), happened)

    def test_without_kinds(self):
        for step in self.sequence(1, ['users', 'grants']):
            kind = steps.OPERATIONS[step.operation].kind
            self.assertNotIn(kind, ('users', 'grants'))

    def test_names_of_a_step(self):
        step = steps.Step(
            'grant', {'holder': 'users:u1', 'target': None, 'role': 'r1'}, 1
        )
        self.assertEqual({'users', 'u1', 'r1'}, step.names)
        self.assertEqual(
            'grant holder=users:u1 target=None role=r1 (node 2)', str(step)
        )

    def test_initial_steps_are_operations(self):
        for step in initial_steps.steps():
            choices = steps.OPERATIONS[step.operation].choices
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

        stock = answers.across_clouds(answer(_ID, 1), self.side(**{_ID: 'u1'}))
        patched = answers.across_clouds(
            answer(_OTHER, 2), self.side(**{_OTHER: 'u1'})
        )
        self.assertEqual(stock, patched)
        other = answers.across_clouds(
            answer(_OTHER, 2), self.side(**{_OTHER: 'u2'})
        )
        self.assertNotEqual(stock, other)

    def test_repeated_roles_of_two_clouds(self):
        def answer(key, *roles):
            token = self.token(**{key: [{'name': role} for role in roles]})
            return answers.across_clouds(token, self.side())

        for key in ('roles', 'role_assignments'):
            once = answer(key, 'r2', 'r1')
            self.assertEqual(once, answer(key, 'r1', 'r1', 'r2'))
            self.assertNotEqual(once, answer(key, 'r1', 'r1'))
        self.assertNotEqual(answer('groups', 1, 1), answer('groups', 1))

    def test_of_a_rejected_token(self):
        fernet, jws, other = (
            answers.on_one_cloud(Answer(404, {'error': {'message': message}}))
            for message in (
                'Could not find token: gAAAAABq_x-1==.',
                'Could not find token: eyJ0eXAi.eyJz_dWIi.a-b_1.',
                'Failed to validate token',
            )
        )
        self.assertEqual(other, fernet)
        self.assertEqual(other, jws)

    def test_of_one_cloud(self):
        first = self.token(user={'id': _ID}, roles=[{'id': 1}, {'id': 2}])
        turned = self.token(user={'id': _ID}, roles=[{'id': 2}, {'id': 1}])
        self.assertEqual(
            answers.on_one_cloud(first), answers.on_one_cloud(turned)
        )
        for other in (
            self.token(user={'id': _OTHER}, roles=[{'id': 1}, {'id': 2}]),
            self.token(user={'id': _ID}, roles=[{'id': 1}]),
            Answer(404, first.body),
            Answer(200, first.body, {'vary': 'X-Auth-Token'}),
        ):
            self.assertNotEqual(
                answers.on_one_cloud(first), answers.on_one_cloud(other)
            )

    def test_differences_show_no_token(self):
        secret = 'gAAAAA-a-secret'
        headers = {'x-subject-token': secret, 'x-openstack-request-id': 'one'}
        responses = {
            testbed.NODES[0]: Answer(200, {'token': {}}, headers),
            testbed.NODES[1]: Answer(200, {'token': {}}, headers),
            testbed.REFERENCE: Answer(404, {'error': {}}, {}),
        }
        request = readings.Request('/auth/tokens', 't2', 't1')
        differences = list(answers.node_differences(request, responses))
        self.assertEqual(2, len(differences))
        self.assertEqual(
            ('node 1', 200, testbed.REFERENCE, 404), differences[0].kind
        )
        self.assertIn('of t1 by t2', str(differences[0]))
        self.assertNotIn(secret, json.dumps(list(map(str, differences))))
        responses[testbed.REFERENCE] = responses[testbed.NODES[0]]
        self.assertEqual(
            [], list(answers.node_differences(request, responses))
        )


class ReadingsTestCase(testtools.TestCase):
    def test_everything_is_read(self):
        generator = random.Random(1)
        some = readings.some(generator, ['t1', 't2'], 2000)
        paths = {one.path for one in some}
        for name in ('{u1}', '{l1}', '{g1}', '{p2}', '{d3}', '{trust1}'):
            self.assertIn(name, str(paths))
        self.assertIn('GET /auth/projects by t2', map(str, some))
        self.assertIn('GET /role_inferences by by-admin', map(str, some))

    def test_names_are_replaced_by_ids(self):
        paths = []
        server = types.SimpleNamespace(
            ask=lambda *words, headers: paths.append(words)
        )
        one = types.SimpleNamespace(
            ids={'u1': _ID, 'r1': _OTHER}, tokens={'t1': ()}, token=str.upper
        )
        readings.Request('/{u1}/{r1}', 't1').send(server, one)
        # Without a resource or a token, nothing is sent.
        readings.Request('/{u1}/{r2}', 't1').send(server, one)
        readings.Request('/{u1}', 't2').send(server, one)
        self.assertEqual([('GET', f'/{_ID}/{_OTHER}', 'T1')], paths)


class RequestsTestCase(testtools.TestCase):
    def test_each_token_is_validated_twice(self):
        names = [f't{number}' for number in range(4)]
        one = types.SimpleNamespace(
            tokens=dict.fromkeys(names, 'secret'),
            callers=dict.fromkeys(names, SELF),
            keys={},
        )
        requests = answers.requests(one, names)
        self.assertEqual(
            dict.fromkeys(names, 2),
            collections.Counter(one.subject for one in requests),
        )
        self.assertEqual(
            {
                'GET /auth/tokens',
                'GET /auth/tokens?nocatalog',
                'GET /auth/tokens?allow_expired=1',
                'GET /auth/tokens?nocatalog&allow_expired=1',
                'HEAD /auth/tokens',
            },
            {f'{one.method} {one.path}' for one in requests},
        )

    def test_each_key_signs_a_request(self):
        one = types.SimpleNamespace(tokens={}, keys={'k1': ('a', 'b')})
        (request,) = answers.requests(one, [])
        first, other = (
            Answer(200, {'token': {'audit_ids': [word], 'expires_at': word}})
            for word in ('one', 'two')
        )
        self.assertEqual(
            answers.on_one_cloud(first, request.is_exact),
            answers.on_one_cloud(other, request.is_exact),
        )
        other.body['token']['user'] = {'id': _ID}
        self.assertNotEqual(
            answers.on_one_cloud(first, request.is_exact),
            answers.on_one_cloud(other, request.is_exact),
        )
        first.body['token']['user'] = {'id': _OTHER}
        self.assertNotEqual(
            answers.on_one_cloud(first, request.is_exact),
            answers.on_one_cloud(other, request.is_exact),
        )


class CountersTestCase(testtools.TestCase):
    def test_sums(self):
        with testbed.Counters() as one:
            address = one.options['statsd_host'], one.options['statsd_port']
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                for packet in (b'a.hit:2|c\nb.hit:1|c', b'a.size:7|g'):
                    sender.sendto(packet, address)
        self.assertEqual({'hit': 3}, one.counts)
