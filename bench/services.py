# SPDX-License-Identifier: Apache-2.0

"""Validation of each token by each service."""

import contextlib
import random

from bench import client
from bench import load
from bench import middleware
from bench import population
from bench import runs
from bench import steal_time
from bench import table
from bench import testbed
from bench import tokens
from patchset import progress
from patchset.services import memcached

TITLE = 'Cost of validating each token by each service'
# Methods of Experiment. That with other processes is the last one.
CASES = (
    'services', 'nodes', 'users', 'rescoping', 'middleware', 'processes',
)  # fmt: skip
SERVICES, USERS, MORE_USERS = 6, 20, 40
TOKENS = {'small': 24, 'full': 300}
MORE_TOKENS = {'small': 60, 'full': 1000}
NEW_TOKENS = {'small': 30, 'full': 500}  # of the middleware
PROCESSES = {'small': (1,), 'full': (1, 4, 8)}
CACHE_TIMES = {'small': (-1,), 'full': (300, 10, -1)}  # seconds
REPEATS = 2
SECONDS = 2  # of one token again and again
_FOR_EACH = 2  # clients for each process
_PATIENCE = 10  # seconds; longer ones are not waited for
TRAFFIC = ('gets', 'sets', 'hits')


def run(plan):
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: the result of :meth:`bench.runs.Runs.points` by case, where and
        load, and for each side the medians of :data:`TRAFFIC` (for each
        request), and ``refused`` (seconds after which the service refuses a
        revoked token; None if not measured)
    """
    with testbed.both(plan) as sides:
        progress.step('creating users')
        experiment = Experiment(plan, sides)
        for case in CASES:
            if case in (plan.cases or CASES):
                getattr(experiment, case)()
    return experiment.runs.points(medians=(*TRAFFIC, 'refused'))


class Experiment:
    """The cases, a method each, and what they have measured.

    :param plan: a :class:`bench.plan.Plan`
    :param sides: what :func:`bench.testbed.both` gave
    """

    def __init__(self, plan, sides):
        self._scale = plan.scale
        self._sides = sides
        self._services = self._both(
            lambda side: population.accounts(
                side.keystone, SERVICES, 'service'
            )
        )
        self._users = self._both(
            lambda side: population.accounts(side.keystone, MORE_USERS)
        )
        self.runs = runs.Runs('case', 'where', 'load')

    def services(self):
        """Each service and token once, and once more."""
        self._rounds(self._pairs, 'services', self._urls(), testbed.PROCESSES)

    def nodes(self):
        """The same on two nodes."""
        with testbed.second_nodes(self._sides) as nodes:
            urls = {
                side: [side.url, f'{nodes[side].url}/auth/tokens']
                for side in self._sides
            }
            self._rounds(self._pairs, 'nodes', urls, testbed.PROCESSES)

    def processes(self):
        """The same with other numbers of processes."""
        for count in PROCESSES[self._scale]:
            for side in self._sides:
                side.keystone.processes = count
                side.keystone.restart()
            self._rounds(self._pairs, 'processes', self._urls(), count)

    def users(self):
        """Many tokens by one service, and once more."""
        self._rounds(self._many)

    def rescoping(self):
        """A token for each of the tokens, one after the other."""
        self._rounds(self._rescoped)

    def middleware(self):
        """Requests to a service behind the middleware."""
        for cache_time in CACHE_TIMES[self._scale]:
            with contextlib.ExitStack() as stack:
                services = {
                    side: stack.enter_context(
                        middleware.Service(
                            side.keystone,
                            self._services[side][0],
                            stack.enter_context(memcached.Memcached()),
                            cache_time,
                        )
                    )
                    for side in self._sides
                }
                self._rounds(self._behind, services, cache_time)

    def _rounds(self, function, *arguments):
        """Run the rounds of a case.

        A round begins with new tokens: one from which much time is stolen is
        measured again as a whole.

        :param function: gives (case, where, load) and {side: run} for each
            load
        """

        def one():
            return {'loads': list(function(*arguments))}

        for _ in range(REPEATS):
            found = steal_time.measure_undisturbed(one)
            for about, of_sides in found['loads']:
                for side, run in of_sides.items():
                    run['steal'] = found['steal']
                    self.runs.add(side, about, run)

    def _both(self, function):
        """What a function gives for each side, at the same time."""
        return testbed.for_each_side(function, self._sides)

    def _urls(self):
        return {side: [side.url] for side in self._sides}

    def _many(self):
        requests = {
            side: load.validations(subjects, callers[0])
            for side, (callers, subjects) in self._issued(
                MORE_TOKENS, MORE_USERS
            ).items()
        }
        for words in ('first time', 'once more'):
            one = self._load(self._urls(), requests)
            yield ('users', _processes(testbed.PROCESSES), words), _runs(one)

    def _rescoped(self):
        requests = {}
        for side, (_, subjects) in self._issued(TOKENS, USERS).items():
            owners = population.round_robin(
                self._users[side][:USERS], len(subjects)
            )
            projects = [one.credentials['OS_PROJECT_ID'] for one in owners]
            requests[side] = [
                ('', '', client.rescope_body(*both))
                for both in zip(subjects, projects, strict=True)
            ]
        one = self._load(self._urls(), requests, 1)
        about = 'rescoping', _processes(testbed.PROCESSES), 'one client'
        yield about, _runs(one)

    def _behind(self, services, cache_time):
        """The loads of the middleware with one ``token_cache_time``."""
        where = 'no cache' if cache_time < 0 else f'{cache_time} s'
        urls = {side: [one.url] for side, one in services.items()}
        tokens = {
            side: [(subject, '', '') for subject in subjects]
            for side, (_, subjects) in self._issued(NEW_TOKENS, USERS).items()
        }
        if cache_time < 0:
            found = self._load(urls, tokens)
            yield ('middleware', where, 'new tokens'), _runs(found)
        one = {side: requests[:1] for side, requests in tokens.items()}
        found = _runs(self._load(urls, one, seconds=SECONDS))
        late = {}
        if cache_time <= _PATIENCE:
            late = self._both(
                lambda side: services[side].refuses_after(one[side][0][0])
            )
        for side, run in found.items():
            run['refused'] = late.get(side)
        yield ('middleware', where, 'one token'), found

    def _pairs(self, case, urls, processes):
        """Each pair of a service and a token once, and once more.

        :param urls: {side: URL of each node}
        """
        first, rest = {}, {}
        for side, (callers, subjects) in self._issued(TOKENS, USERS).items():
            first[side] = load.validations(subjects, callers[0])
            rest[side] = [
                one
                for caller in callers[1:]
                for one in load.validations(subjects, caller)
            ]
            random.Random(0).shuffle(rest[side])
        nodes = len(urls[self._sides[0]])
        where = f'{nodes} nodes' if nodes > 1 else _processes(processes)
        clients = _FOR_EACH * processes * nodes
        one = self._load(urls, first, clients)
        others = self._load(urls, rest, clients)
        # To the other node, where there are two.
        urls = {side: of[::-1] for side, of in urls.items()}
        again = {side: [*first[side], *rest[side]] for side in first}
        for words, loads in (
            ('first service', [one]),
            ('other services', [others]),
            ('all services', [one, others]),
            ('once more', [self._load(urls, again, clients)]),
        ):
            yield (case, where, words), _runs(*loads)

    def _issued(self, counts, users):
        """New tokens: {side: (one for each service, those of the users)}."""
        return self._both(
            lambda side: (
                client.map_concurrently(client.token, self._services[side]),
                population.tokens(
                    self._users[side][:users], counts[self._scale]
                ),
            )
        )

    def _load(
        self,
        urls,
        requests,
        clients=_FOR_EACH * testbed.PROCESSES,
        seconds=None,
    ):
        """Send requests to both sides, one after the other.

        :param urls: {side: list}
        :param requests: {side: list}, see :mod:`bench.load`
        :param seconds: how long they are sent in turns; None sends each once
        :returns: {side: (:class:`bench.load.Answers`, what
            :func:`bench.tokens.traffic` gives of all of them)}
        """
        found = {}
        for side in self._sides:
            before = side.cache.stats()
            if seconds:
                answers = load.during(
                    urls[side][0], requests[side], seconds, clients
                )
            else:
                answers = load.once(urls[side], requests[side], clients)
            spent = tokens.traffic(before, side.cache.stats(), 1)
            found[side] = answers, spent
        return found


def _runs(*loads):
    """What each side has answered: {side: run}.

    :param loads: what :meth:`Experiment._load` gave, one after the other
    """
    found = {}
    for side in loads[0]:
        answers = load.joined([one[side][0] for one in loads])
        found[side] = answers.measure()
        for name in TRAFFIC:
            spent = sum(one[side][1][name] for one in loads)
            found[side][name] = spent / answers.requests
    return found


def _processes(count):
    return f'{count} process' + ('es' if count > 1 else '')


#: The points as a table.
text = table.of_sides(
    'case', 'where', 'load', table.SIDE, table.RATE, *table.RATIO,
    *table.times('{:.1f}'), *((name, name, '{:.1f}') for name in TRAFFIC),
    ('refused s', 'refused', '{:.2f}'), table.RUNS,
)  # fmt: skip
