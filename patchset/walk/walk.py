# SPDX-License-Identifier: Apache-2.0

"""One walk: a story, told to both clouds at the same time."""

import collections
import concurrent.futures
import random
import time

from patchset.walk import answers
from patchset.walk import beginning
from patchset.walk import differences
from patchset.walk import rig as rigs
from patchset.walk import side as sides
from patchset.walk import story

POOL = 9  # tokens that are validated after each step
_LIVELY = 5  # tokens of the pool that should be good
# Number of times that stock, with two processes, is asked for an answer.
_ASKED = 8
_TRIES = 50  # for a step that both clouds can take


class Walk:
    """A story under way.

    :param rig: the :class:`patchset.walk.rig.Rig`, as new
    """

    def __init__(self, rig):
        self.rig = rig
        self.told = []  # steps
        self.compared = 0  # answers
        self.accepted = 0  # answers with status 200
        # {name of a topic: number of differences}
        self.excused = collections.Counter()
        self._pool = []
        self._good = set()  # names of tokens of the pool
        self._last = {}  # question: what was true before
        self._known = differences.Known()
        self._threads = concurrent.futures.ThreadPoolExecutor(4)
        self.sides = [
            sides.Side(name, rig.nodes(name), rig) for name in rigs.SIDES
        ]
        for one in self.sides:
            one.sign_in(rigs.PASSWORD)

    def close(self):
        """End its threads."""
        self._threads.shutdown()

    def go(self, seed, seconds, without=()):
        """Tell a new story, until something differs or the time is over.

        :returns: a list of :class:`patchset.walk.answers.Difference`
        """
        dice = story.Dice(random.Random(seed), without)
        if found := self.retell(beginning.steps()):
            return found
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := self._next(dice):
                return found
        return []

    def progress(self, seed):
        """One line on how it goes."""
        return (
            f'seed {seed}: {len(self.told)} steps, {self.compared} answers '
            f'compared, {self.accepted} of them 200'
        )

    def retell(self, steps):
        """Take given steps, until something differs; as :meth:`go`."""
        for step in steps:
            if found := self.take(step):
                return found
        return []

    def _next(self, dice):
        for _ in range(_TRIES):
            step = dice.step(
                len(self.told),
                self._pool or [sides.ADMIN],
                len(self._good) < _LIVELY,
            )
            found = self.take(step)
            if found is not None:
                return found
        return []

    def take(self, step):
        """Take a step on both sides, and compare all answers.

        :returns: the differences; None if neither side can take it
        """
        done = self._do(step)
        stock, patched = (
            answers.alike(getattr(one, 'answer', one), side)
            for one, side in zip(done, self.sides, strict=True)
        )
        is_taken = any(not isinstance(one, story.Absent) for one in done)
        if stock == patched and not is_taken:
            return None
        self.told.append(step)
        self._known.note(step)
        found = self._compared(step, 'stock', stock, 'patched', patched)
        self._choose_pool(step)
        if self._pool:
            self.rig.settle()
        found += self._validate()
        return found

    def _do(self, step):
        operation = story.OPERATIONS[step.operation]

        def on(side):
            side.node = side.nodes[step.node % len(side.nodes)]
            try:
                return operation.do(side, **step.arguments)
            except story.Absent as reason:
                return reason

        if operation.processes:
            # The kernel ends a server with the thread that has started it.
            return [on(side) for side in self.sides]
        return list(self._threads.map(on, self.sides))

    def _choose_pool(self, step):
        token = step.arguments.get('token')
        if all(token in one.tokens for one in self.sides):
            self._pool.append(token)
        del self._pool[:-POOL]

    def _validate(self):
        """Ask after a step; the differences between the answers."""
        stock, patched = self.sides
        asked = answers.questions(patched, self._pool)
        self.rig.forget(rigs.STOCK, rigs.TRUTH)

        def of(name):
            server = self.rig.node(name)
            return [one.ask(server, patched) for one in asked]

        servers = (*rigs.NODES, rigs.TRUTH)
        given = dict(zip(servers, self._threads.map(of, servers), strict=True))
        found = []
        self._good = set()
        for number, question in enumerate(asked):
            all_given = {name: given[name][number] for name in servers}
            found += answers.of_nodes(question, all_given)
            truth = all_given[rigs.TRUTH]
            self.compared += len(servers)
            if truth.status == 200:
                self.accepted += 1
                self._good |= {question.subject} & set(self._pool)
            if self._is_due(number, question, truth):
                found += self._compare_stock(question, stock, truth)
        return found

    def _is_due(self, number, question, truth):
        """Whether stock is asked as well, which takes it long.

        It is when the answer has changed, and about some in turn.
        """
        now = answers.exact(truth, question.is_exact)
        changed = self._last.get(question) != now
        self._last[question] = now
        return changed or number == len(self.told) % (2 * POOL)

    def _compare_stock(self, question, side, truth):
        server = self.rig.node(rigs.STOCK)
        patched = answers.alike(truth, self.sides[1])
        self.compared += 1
        for number in range(_ASKED):
            stock = answers.alike(question.ask(server, side), side)
            if stock == patched:
                if number:
                    self.excused['request-local-cache'] += 1
                return []
            # A process of stock uses values of its last request, which may be
            # outdated, until a request replaces them.
            server.ask('GET', '/domains/default', side.token(sides.ADMIN))
        return self._compared(question, rigs.STOCK, stock, rigs.TRUTH, patched)

    def _compared(self, about, one, stock, other, patched):
        """What differs, unless a topic explains it."""
        if stock == patched:
            return []
        difference = answers.Difference(about, one, stock, other, patched)
        topic = self._known.topic(difference)
        if topic:
            self.excused[topic] += 1
            return []
        return [difference]
