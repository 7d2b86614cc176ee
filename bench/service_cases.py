# SPDX-License-Identifier: Apache-2.0

"""The cases of :mod:`bench.services`, and their requests."""

import contextlib
import dataclasses
import random

from bench import client
from bench import middleware
from bench import population
from bench import rig
from bench import table
from bench import tokens
from bench import turns
from patchset import progress

CASES = (
    'services', 'nodes', 'users', 'rescoping', 'middleware', 'processes',
)  # fmt: skip
SERVICES, USERS, MORE_USERS = 6, 20, 40
TOKENS = {'small': 24, 'full': 300}
MORE_TOKENS = {'small': 60, 'full': 1000}
NEW_TOKENS = {'small': 30, 'full': 500}  # of the middleware
PROCESSES = {'small': (1,), 'full': (1, 4, 8)}
CACHE_TIMES = {'small': (-1,), 'full': (300, 10, -1)}  # seconds
REPEATS = {'small': 2, 'full': 2}
SECONDS = 2  # of one token again and again
_FOR_EACH = 2  # clients for each process
_PATIENCE = 10  # seconds; longer ones are not waited for
TRAFFIC = ('gets', 'sets', 'hits')


class Experiment:
    """The cases, a method each, and what they have measured.

    :param plan: a :class:`bench.plan.Plan`
    """

    def __init__(self, plan):
        self._scale = plan.scale
        self._sides, self._services, self._users = [], {}, {}
        self._number = 0  # of the round: sides swap turns by it
        #: {(case, where, load): {side: list of dicts}}
        self.measured = {}

    def make(self, sides):
        """Make the users of both sides."""
        self._sides = sides

        def users(side):
            self._services[side.name] = population.accounts(
                side.keystone, SERVICES, 'service'
            )
            self._users[side.name] = population.accounts(
                side.keystone, MORE_USERS
            )

        rig.at_once(users, sides)

    def services(self):
        """Each service and token once, and once more."""
        for _ in self._rounds():
            self._pairs('services', self._urls(), rig.PROCESSES)

    def nodes(self):
        """The same on two nodes."""
        with rig.second_nodes(self._sides) as nodes:
            urls = self._urls()
            for name, node in nodes.items():
                urls[name].append(f'{node.url}/auth/tokens')
            for _ in self._rounds():
                self._pairs('nodes', urls, rig.PROCESSES)

    def processes(self):
        """The same with other numbers of processes."""
        for count in PROCESSES[self._scale]:
            rig.restart(self._sides, count)
            for _ in self._rounds():
                self._pairs('processes', self._urls(), count)

    def users(self):
        """Many tokens by one service, and once more."""
        for _ in self._rounds():
            requests = {
                name: [(callers[0], subject, '') for subject in subjects]
                for name, (callers, subjects) in self._issued(
                    MORE_TOKENS, MORE_USERS
                ).items()
            }
            for slot, load in enumerate(('first time', 'once more')):
                about = 'users', _processes(rig.PROCESSES), load
                self._load(about, self._urls(), requests, slot)

    def rescoping(self):
        """A token for each of the tokens, one after the other."""
        about = 'rescoping', _processes(rig.PROCESSES), 'one client'
        for _ in self._rounds():
            requests = {}
            for name, (_, subjects) in self._issued(TOKENS, USERS).items():
                owners = population.in_turn(
                    self._users[name][:USERS], subjects
                )
                requests[name] = [
                    ('', '', _rescoping(owner, subject))
                    for owner, subject in zip(owners, subjects, strict=True)
                ]
            self._load(about, self._urls(), requests, 0, clients=1)

    def middleware(self):
        """Requests to a service behind the middleware."""
        for cache_time in CACHE_TIMES[self._scale]:
            with contextlib.ExitStack() as stack:
                services = {
                    side.name: stack.enter_context(
                        middleware.Service(
                            side.keystone,
                            self._services[side.name][0],
                            cache_time,
                        )
                    )
                    for side in self._sides
                }
                for _ in self._rounds():
                    self._behind(services, cache_time)

    def _rounds(self):
        for number in range(REPEATS[self._scale]):
            self._number = number
            yield

    def _urls(self):
        return {side.name: [side.url] for side in self._sides}

    def _behind(self, services, cache_time):
        """The loads of the middleware with one ``token_cache_time``."""
        where = 'no cache' if cache_time < 0 else f'{cache_time} s'
        urls = {name: [one.url] for name, one in services.items()}
        issued = self._issued(NEW_TOKENS, USERS, 0)
        tokens = {
            name: [(subject, '', '') for subject in subjects]
            for name, (_, subjects) in issued.items()
        }
        about = 'middleware', where, 'new tokens'
        if cache_time < 0:
            self._load(about, urls, tokens, 0)
        about = 'middleware', where, 'one token'
        one = {name: requests[:1] for name, requests in tokens.items()}
        self._load(about, urls, one, 1, seconds=SECONDS)
        if cache_time > _PATIENCE:
            return

        def refused(side):
            (token, *_), *_ = tokens[side.name]
            seconds = services[side.name].refuses_after(token)
            self.measured[about][side.name][-1]['refused'] = seconds

        rig.at_once(refused, self._sides)

    def _pairs(self, case, urls, processes):
        """Each pair of a service and a token once, and once more.

        :param urls: {side: URL of each node}
        """
        first, rest = {}, {}
        for name, (callers, subjects) in self._issued(TOKENS, USERS).items():
            pairs = [
                (caller, subject, '')
                for caller in callers
                for subject in subjects
            ]
            first[name] = pairs[: len(subjects)]
            rest[name] = pairs[len(subjects) :]
            random.Random(self._number).shuffle(rest[name])
        nodes = len(urls[self._sides[0].name])
        where = f'{nodes} nodes' if nodes > 1 else _processes(processes)

        def load(words, requests, urls, slot):
            clients = _FOR_EACH * processes * nodes
            return self._load(
                (case, where, words), urls, requests, slot, clients
            )

        one = load('first service', first, urls, 0)
        others = load('other services', rest, urls, 1)
        for name, part in one.items():
            self._note((case, where, 'all services'), name, part, others[name])
        # To the other node, where there are two.
        urls = {name: of[::-1] for name, of in urls.items()}
        again = {name: [*first[name], *rest[name]] for name in first}
        load('once more', again, urls, 2)

    def _issued(self, counts, users, services=SERVICES):
        """New tokens: {side: (one for each service, those of the users)}."""
        found = {}

        def issue(side):
            found[side.name] = (
                client.of_each(
                    client.token, self._services[side.name][:services]
                ),
                population.tokens(
                    self._users[side.name][:users], counts[self._scale]
                ),
            )

        rig.at_once(issue, self._sides)
        return found

    def _load(
        self, about, urls, requests, slot,
        clients=_FOR_EACH * rig.PROCESSES, seconds=None,
    ):  # fmt: skip
        """Send requests to both sides, one after the other.

        :param about: (case, where, load)
        :param urls: {side: list}
        :param requests: {side: list}, see :func:`bench.turns.once`
        :param slot: where in the round this is: sides swap turns by it
        :param seconds: how long they are sent in turns; None sends each once
        :returns: {side: :class:`Part`}
        """
        parts = {}
        for side in rig.turn(self._sides, self._number + slot):
            name = side.name
            before = side.cache.stats()
            if seconds:
                answers = turns.during(
                    urls[name][0], requests[name], seconds, clients
                )
            else:
                answers = turns.once(urls[name], requests[name], clients)
            spent = tokens.traffic(before, side.cache.stats(), 1)
            parts[name] = Part(answers, spent)
            self._note(about, name, parts[name])
        return parts

    def _note(self, about, name, *parts):
        """Keep what one side has answered, in one or several parts."""
        answers = turns.joined([part.answers for part in parts])
        one = dataclasses.asdict(answers.measure())
        for what in TRAFFIC:
            spent = sum(part.spent[what] for part in parts)
            one[what] = spent / answers.requests
        of_it = self.measured.setdefault(about, {})
        of_it.setdefault(name, []).append(one)
        progress.step(
            f'round {self._number + 1}: {", ".join(about)}, {name}: '
            f'{table.rate(one["rate"])}/s'
        )


@dataclasses.dataclass(frozen=True)
class Part:
    """What was answered, and what memcached was asked meanwhile.

    :param answers: a :class:`bench.turns.Answers`
    :param spent: what :func:`bench.tokens.traffic` gives of all of them
    """

    answers: turns.Answers
    spent: dict


def _rescoping(owner, subject):
    """Body of a request for a token of the same project."""
    project = owner.credentials['OS_PROJECT_ID']
    return client.rescoping(subject, project).decode()


def _processes(count):
    return f'{count} process' + ('es' if count > 1 else '')
