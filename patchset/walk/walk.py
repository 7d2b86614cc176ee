# SPDX-License-Identifier: Apache-2.0

"""One walk: the same steps on both clouds at the same time."""

import collections
import concurrent.futures
import random
import time

from patchset import series
from patchset.walk import answers
from patchset.walk import initial_steps
from patchset.walk import known_differences
from patchset.walk import readings
from patchset.walk import side as sides
from patchset.walk import steps
from patchset.walk import testbed as testbeds
from patchset.walk.names import ADMIN

POOL = 9  # tokens that are validated after each step
_MIN_VALID = 5  # tokens of the pool that should be valid
_READINGS = 5  # of resources, by the admin and by owners of tokens each
_STOCK_ATTEMPTS = 8  # requests to stock, which has two processes
_STEP_ATTEMPTS = 50  # until a step is applicable


class Walk:
    """A walk in progress.

    :param testbed: the :class:`patchset.walk.testbed.Testbed`, in its initial
        state
    :param also: requests to send after each step, in addition to those chosen
    """

    def __init__(self, testbed, also=()):
        self.testbed = testbed
        self._also = list(also)
        self._random = random.Random(0)  # chooses what is read
        self.steps = []  # that were performed
        self.compared = 0  # number of responses
        self.accepted = 0  # number of tokens and signatures accepted
        # {name of a topic: number of differences}
        self.explained = collections.Counter()
        self._pool = []
        self._valid = set()  # names of tokens of the pool
        self._last = {}  # {request: previous response of the reference}
        topics = {one.name for one in series.load(testbed.pin.release)}
        self._known = known_differences.KnownDifferences(topics)
        self._threads = concurrent.futures.ThreadPoolExecutor(4)
        self.sides = [sides.Side(name, testbed) for name in testbeds.SIDES]
        for side in self.sides:
            side.sign_in(testbeds.PASSWORD)

    def close(self):
        """End its threads."""
        self._threads.shutdown()

    def run(self, seed, seconds, without=()):
        """Perform random steps, until there is a difference or time is over.

        :returns: a list of :class:`patchset.walk.answers.Difference`
        """
        self._random.seed(seed)
        generator = steps.Generator(random.Random(seed), without)
        if differences := self.perform_all(initial_steps.steps()):
            return differences
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if differences := self._perform_random_step(generator):
                return differences
        return []

    def progress(self, seed):
        """A line about the progress."""
        return (
            f'seed {seed}: {len(self.steps)} steps, {self.compared} answers '
            f'compared, {self.accepted} tokens accepted'
        )

    def perform_all(self, sequence):
        """Perform given steps, until there is a difference; as :meth:`run`."""
        for step in sequence:
            if differences := self.perform(step):
                return differences
        return []

    def _perform_random_step(self, generator):
        for _ in range(_STEP_ATTEMPTS):
            step = generator.step(
                len(self.steps),
                self._pool or [ADMIN],
                len(self._valid) < _MIN_VALID,
            )
            differences = self.perform(step)
            if differences is not None:
                return differences
        return []

    def perform(self, step):
        """Perform a step on both sides, and compare all responses.

        :returns: the differences; None if it is not applicable on either side
        """
        results = self._perform_on_both(step)
        stock, patched = (
            answers.across_clouds(getattr(result, 'answer', result), side)
            for result, side in zip(results, self.sides, strict=True)
        )
        is_applicable = any(
            not isinstance(result, steps.NotApplicable) for result in results
        )
        if stock == patched and not is_applicable:
            return None
        self.steps.append(step)
        self._known.record(step)
        differences = self._compare(step, 'stock', stock, 'patched', patched)
        self._update_pool(step)
        if self._pool:
            self.testbed.wait_for_nodes()
        differences += self._validate()
        return differences

    def _perform_on_both(self, step):
        operation = steps.OPERATIONS[step.operation]

        def perform(side):
            side.node = side.nodes[step.node % len(side.nodes)]
            try:
                return operation.do(side, **step.arguments)
            except steps.NotApplicable as reason:
                return reason

        if operation.processes:
            # The kernel ends a server with the thread that has started it.
            return [perform(side) for side in self.sides]
        return list(self._threads.map(perform, self.sides))

    def _update_pool(self, step):
        token = step.arguments.get('token')
        if all(token in side.tokens for side in self.sides):
            self._pool.append(token)
        del self._pool[:-POOL]

    def _validate(self):
        """Validate the pool after a step; the differences of the responses."""
        stock, patched = self.sides
        requests = answers.requests(patched, self._pool) + self._also
        if self._pool:
            requests += readings.some(self._random, self._pool, _READINGS)
        self.testbed.flush(testbeds.STOCK, testbeds.REFERENCE)

        def send_all(name):
            server = self.testbed.node(name)
            return [request.send(server, patched) for request in requests]

        names = (*testbeds.NODES, testbeds.REFERENCE)
        responses = dict(
            zip(names, self._threads.map(send_all, names), strict=True)
        )
        differences = []
        self._valid = set()
        for number, request in enumerate(requests):
            by_server = {name: responses[name][number] for name in names}
            differences += answers.node_differences(request, by_server)
            reference = by_server[testbeds.REFERENCE]
            self.compared += len(names)
            if request.subject and reference.status == 200:
                self.accepted += 1
                self._valid |= {request.subject} & set(self._pool)
            if self._is_compared_with_stock(number, request, reference):
                differences += self._compare_stock(request, stock, reference)
        return differences

    def _is_compared_with_stock(self, number, request, reference):
        """Whether the request is sent to stock as well, which is slow.

        It is if the response has changed, and otherwise in turn.
        """
        response = answers.on_one_cloud(reference, request.is_exact)
        changed = self._last.get(request) != response
        self._last[request] = response
        return changed or number == len(self.steps) % (2 * POOL)

    def _compare_stock(self, request, side, reference):
        server = self.testbed.node(testbeds.STOCK)
        patched = answers.across_clouds(reference, self.sides[1])
        self.compared += 1
        for attempt in range(_STOCK_ATTEMPTS):
            stock = answers.across_clouds(request.send(server, side), side)
            if stock == patched:
                if attempt:
                    self.explained['request-local-cache'] += 1
                return []
            # A process of stock uses values of its last request, which may be
            # outdated, until a request replaces them.
            server.ask('GET', '/domains/default', side.token(ADMIN))
        return self._compare(
            request, testbeds.STOCK, stock, testbeds.REFERENCE, patched
        )

    def _compare(self, subject, name, stock, other_name, patched):
        """The difference, unless a topic explains it: a list."""
        if stock == patched:
            return []
        difference = answers.Difference(
            subject, name, stock, other_name, patched
        )
        topic = self._known.topic(difference)
        if topic:
            self.explained[topic] += 1
            return []
        return [difference]
