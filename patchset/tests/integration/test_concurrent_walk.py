# SPDX-License-Identifier: Apache-2.0

"""The operations of the walk, by several clients at once, on two nodes.

Their writes overlap, so no other cloud is in the same state. But when all have
ended, both nodes must respond as a node does whose cache was just flushed. In
half of the rounds, each node loses its connections to memcached repeatedly.
"""

import collections
from concurrent import futures
import os
import random
import threading
import time

import testtools

from patchset import keystone_conf
from patchset import pins
from patchset.tests.integration import relay
from patchset.walk import answers
from patchset.walk import initial_steps
from patchset.walk import names
from patchset.walk import readings
from patchset.walk import side as sides
from patchset.walk import steps
from patchset.walk import testbed as testbeds

ROUNDS = int(os.environ.get('KS_ROUNDS', 1))
SECONDS = 3  # of writes in a round
WRITERS = READERS = 4
TOKENS = 30  # the newest ones, which are validated
READINGS = 20  # of resources, by the admin and by owners of tokens each
# Attempts, one per second. Something may expire between two responses; and a
# server that has failed may be bypassed for 16 seconds.
ATTEMPTS = {'steady': 2, 'failing': 20}
# Whose caches are flushed, or whose servers restarted, for all at once.
WITHOUT = ('LDAP', 'restarts', 'keys', 'keystone-manage', 'receipts')
# Users of a directory stay cached when their domain is deleted, as in stock.
_EXCLUDED = 'delete_domain', {names.LDAP_DOMAIN}


class _Unreliable(relay.Relay):
    """A relay that closes all connections while it is down."""

    is_down = False

    def hand_on(self, data, target, is_client):
        if self.is_down:
            raise ConnectionError()
        super().hand_on(data, target, is_client)


class _Testbed(testbeds.Testbed):
    """Each node reaches the shared memcached through a relay of its own."""

    def __init__(self, pin):
        super().__init__(pin)
        self.relays = []

    def _add(self, name):
        super()._add(name)
        if name in testbeds.NODES:
            between = _Unreliable(self._caches[testbeds.NODES[0]].port)
            self.relays.append(between)
            self._stack.callback(between.close)
            node = self._keystones[name]
            server = {'memcache_servers': f'127.0.0.1:{between.port}'}
            node.options = keystone_conf.merge(node.options, {'cache': server})


class _Client(sides.Side):
    """One of several clients of the same cloud, each with its own node."""

    def __init__(self, side):
        vars(self).update(vars(side))

    def wait_for_next_second(self):
        """A rejected token is compared as well as an accepted one."""


class ConcurrentWalkTests(testtools.TestCase):
    def setUp(self):
        super().setUp()
        pin = pins.load(pins.newest())
        self.testbed = self.enterContext(_Testbed(pin))
        self.side = sides.Side('patched', self.testbed)
        self.side.sign_in(testbeds.PASSWORD)
        self.tokens = collections.deque(maxlen=TOKENS)
        self.performed = []  # (status or None, step) of a round
        self.accepted = 0  # number of tokens, by the reference
        for step in initial_steps.steps():
            self.perform(self.side, step)

    def perform(self, client, step):
        client.node = client.nodes[step.node]
        try:
            answer = steps.OPERATIONS[step.operation].do(
                client, **step.arguments
            )
        except (steps.NotApplicable, LookupError):
            return  # perhaps by now, as another client has deleted something
        self.performed.append((getattr(answer, 'status', None), step))
        if step.arguments.get('token') in client.tokens:
            self.tokens.append(step.arguments['token'])

    def write(self, seed, is_over):
        client = _Client(self.side)
        generator = steps.Generator(random.Random(seed), WITHOUT)
        while not is_over.is_set():
            known = list(self.tokens) or [names.ADMIN]
            number = len(self.performed) * WRITERS + seed % WRITERS
            step = generator.step(number, known, len(known) < TOKENS / 2)
            if (step.operation, step.names) != _EXCLUDED:
                self.perform(client, step)

    def read(self, seed, is_over):
        client, chooser = _Client(self.side), random.Random(seed)
        while not is_over.is_set():
            known = list(self.tokens) or [names.ADMIN]
            requests = readings.some(chooser, known, 1)
            requests += answers.requests(client, [chooser.choice(known)])[-2:]
            for request in requests:
                try:
                    request.send(chooser.choice(client.nodes), client)
                except (steps.NotApplicable, LookupError):
                    pass  # deleted by now

    def disconnect(self, seed, is_over):
        """Let each node lose and regain memcached, until it is over."""
        chooser = random.Random(seed)
        while not is_over.wait(chooser.random()):
            one = chooser.choice(self.testbed.relays)
            one.is_down = not one.is_down
        for one in self.testbed.relays:
            one.is_down = False

    def change_all(self, number, is_failing):
        """Write and read from both nodes at once."""
        kinds = [(self.write, WRITERS), (self.read, READERS)]
        if is_failing:
            kinds.append((self.disconnect, 1))
        is_over = threading.Event()
        with futures.ThreadPoolExecutor(WRITERS + READERS + 1) as pool:
            running = [
                pool.submit(function, number * count + one, is_over)
                for function, count in kinds
                for one in range(count)
            ]
            futures.wait(running, SECONDS, futures.FIRST_EXCEPTION)
            is_over.set()
            for one in running:
                one.result()

    def differences(self, requests):
        """How the nodes respond otherwise than a node with an empty cache.

        :returns: list of :class:`patchset.walk.answers.Difference`
        """
        self.testbed.flush(testbeds.REFERENCE)
        # The nodes first, so that nothing that they use is any newer.
        found = {
            name: [
                request.send(self.testbed.node(name), self.side)
                for request in requests
            ]
            for name in (*testbeds.NODES, testbeds.REFERENCE)
        }
        differences = []
        for number, request in enumerate(requests):
            by_server = {name: sent[number] for name, sent in found.items()}
            differences += answers.node_differences(request, by_server)
            reference = by_server[testbeds.REFERENCE]
            if request.subject and reference and reference.status == 200:
                self.accepted += 1
        return differences

    def assert_no_differences(self, requests, attempts):
        for number in range(attempts):
            if number:
                time.sleep(1)
            found = self.differences(requests)
            if not found:
                return
            requests = list(dict.fromkeys(one.subject for one in found))
        told = [f'{step}: {answer}' for answer, step in self.performed]
        self.fail('\n'.join([*map(str, found), *told]))

    def test_nodes_agree(self):
        chooser = random.Random(0)
        for number, state in enumerate([*ATTEMPTS] * ROUNDS):
            del self.performed[:]
            self.change_all(number, state == 'failing')
            self.assertGreater(len(self.performed), WRITERS)
            known = list(dict.fromkeys(self.tokens))
            requests = answers.requests(self.side, known)
            requests += readings.some(chooser, known, READINGS)
            self.assert_no_differences(requests, ATTEMPTS[state])
        self.assertGreater(self.accepted, ROUNDS)
