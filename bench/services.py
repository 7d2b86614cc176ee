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
# Methods of Experiment; the one that changes the processes is last.
CASES = (
    'services', 'nodes', 'users', 'rescoping', 'middleware', 'processes',
)  # fmt: skip
SERVICES, USERS, MORE_USERS = 6, 20, 40
TOKENS = {'small': 100, 'full': 300}
MORE_TOKENS = {'small': 300, 'full': 1000}
NEW_TOKENS = {'small': 100, 'full': 500}  # for the middleware
PROCESSES = {'small': (1,), 'full': (1, 4, 8)}
CACHE_TIMES = {'small': (-1,), 'full': (300, 10, -1)}  # seconds
REPEATS = 2
SECONDS = 2  # of repeated validation of one token
_CLIENTS_PER_PROCESS = 2
_MAX_REJECTION_DELAY = 10  # seconds; longer ones are not measured
TRAFFIC = ('gets', 'sets', 'hits')


def run(plan):
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: the result of :meth:`bench.runs.Runs.points` by case, where and
        load, and for each side the medians of :data:`TRAFFIC` (per request),
        and ``refused`` (seconds after which the service rejects a revoked
        token; None if not measured)
    """
    with testbed.both(plan) as sides:
        progress.step('creating users')
        experiment = Experiment(plan, sides)
        for case in CASES:
            if case in (plan.cases or CASES):
                getattr(experiment, case)()
    return experiment.runs.points(medians=(*TRAFFIC, 'refused'))


class Experiment:
    """The cases, a method each, and their results.

    :param plan: a :class:`bench.plan.Plan`
    :param sides: list of two :class:`bench.testbed.Side`
    """

    def __init__(self, plan, sides):
        self._scale = plan.scale
        self._sides = sides
        self._services = self._for_each_side(
            lambda side: population.accounts(
                side.keystone, SERVICES, 'service'
            )
        )
        self._users = self._for_each_side(
            lambda side: population.accounts(side.keystone, MORE_USERS)
        )
        self.runs = runs.Runs('case', 'where', 'load')

    def services(self):
        """Each service and token once, and a second time."""
        self._measure(self._validate_pairs, 'services', testbed.PROCESSES)

    def nodes(self):
        """The same on two nodes."""
        with testbed.second_nodes(self._sides) as nodes:
            urls = {
                side: [side.url, f'{nodes[side].url}/auth/tokens']
                for side in self._sides
            }
            self._measure(
                self._validate_pairs, 'nodes', testbed.PROCESSES, urls
            )

    def processes(self):
        """The same with other numbers of processes."""
        for count in PROCESSES[self._scale]:
            for side in self._sides:
                side.keystone.processes = count
                side.keystone.restart()
            self._measure(self._validate_pairs, 'processes', count)

    def users(self):
        """Many tokens by one service, and a second time."""
        self._measure(self._validate_many)

    def rescoping(self):
        """A token for each of the tokens, sequentially."""
        self._measure(self._rescope)

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
                self._measure(self._use_middleware, services, cache_time)

    def _measure(self, function, *arguments):
        """Measure the rounds of a case.

        A round begins with new tokens, so that one with much steal time is
        repeated as a whole.

        :param function: yields ((case, where, load), {side: run})
        """

        def measure_round():
            return {'loads': list(function(*arguments))}

        for _ in range(REPEATS):
            result = steal_time.measure_undisturbed(measure_round)
            for values, runs_of_sides in result['loads']:
                for side, run in runs_of_sides.items():
                    run['steal'] = result['steal']
                    self.runs.add(side, values, run)

    def _for_each_side(self, function):
        return testbed.for_each_side(function, self._sides)

    def _validate_many(self):
        tokens = self._issue(MORE_TOKENS, MORE_USERS)
        requests = {
            side: load.validations(subjects, callers[0])
            for side, (callers, subjects) in tokens.items()
        }
        for name in ('first time', 'once more'):
            sent = self._send(requests)
            yield ('users', _processes(testbed.PROCESSES), name), _runs(sent)

    def _rescope(self):
        requests = {}
        for side, (_, subjects) in self._issue(TOKENS, USERS).items():
            owners = population.round_robin(
                self._users[side][:USERS], len(subjects)
            )
            requests[side] = [
                (
                    '', '',
                    client.rescope_body(
                        subject, owner.credentials['OS_PROJECT_ID']
                    ),
                )
                for subject, owner in zip(subjects, owners, strict=True)
            ]  # fmt: skip
        sent = self._send(requests, clients=1)
        where = _processes(testbed.PROCESSES)
        yield ('rescoping', where, 'one client'), _runs(sent)

    def _use_middleware(self, services, cache_time):
        """The loads of the middleware with one ``token_cache_time``."""
        where = 'no cache' if cache_time < 0 else f'{cache_time} s'
        urls = {side: [service.url] for side, service in services.items()}
        requests = {
            side: [(subject, '', '') for subject in subjects]
            for side, (_, subjects) in self._issue(NEW_TOKENS, USERS).items()
        }
        if cache_time < 0:
            sent = self._send(requests, urls=urls)
            yield ('middleware', where, 'new tokens'), _runs(sent)
        first = {side: requests[side][:1] for side in requests}
        results = _runs(self._send(first, urls=urls, seconds=SECONDS))
        delays = {}
        if cache_time <= _MAX_REJECTION_DELAY:
            delays = self._for_each_side(
                lambda side: services[side].rejection_delay(first[side][0][0])
            )
        for side, run in results.items():
            run['refused'] = delays.get(side)
        yield ('middleware', where, 'one token'), results

    def _validate_pairs(self, case, processes, urls=None):
        """Each pair of a service and a token once, and a second time.

        :param urls: {side: those of two nodes}; None is one node
        """
        first, others = {}, {}
        for side, (callers, subjects) in self._issue(TOKENS, USERS).items():
            first[side] = load.validations(subjects, callers[0])
            others[side] = load.validations(subjects, *callers[1:])
            random.Random(0).shuffle(others[side])
        where = '2 nodes' if urls else _processes(processes)
        clients = _CLIENTS_PER_PROCESS * processes * (2 if urls else 1)
        sent_first = self._send(first, clients, urls)
        sent_others = self._send(others, clients, urls)
        # Each pair to the other node.
        urls = urls and {side: urls[side][::-1] for side in urls}
        both = {side: [*first[side], *others[side]] for side in first}
        for name, sent in (
            ('first service', [sent_first]),
            ('other services', [sent_others]),
            ('all services', [sent_first, sent_others]),
            ('once more', [self._send(both, clients, urls)]),
        ):
            yield (case, where, name), _runs(*sent)

    def _issue(self, counts, users):
        """New tokens: {side: (one for each service, those of the users)}."""
        return self._for_each_side(
            lambda side: (
                client.map_concurrently(client.token, self._services[side]),
                population.tokens(
                    self._users[side][:users], counts[self._scale]
                ),
            )
        )

    def _send(
        self, requests, clients=_CLIENTS_PER_PROCESS * testbed.PROCESSES,
        urls=None, seconds=None,
    ):  # fmt: skip
        """Send requests to both sides, one after the other.

        :param urls: {side: list}, by default that of its first node
        :param requests: {side: list}, see :mod:`bench.load`
        :param seconds: duration for which they are sent in turn; None sends
            each once
        :returns: {side: (:class:`bench.load.Answers`, result of
            :func:`bench.tokens.traffic` for all of them)}
        """
        results = {}
        for side in self._sides:
            own = urls[side] if urls else [side.url]
            before = side.cache.stats()
            if seconds:
                answers = load.during(own[0], requests[side], seconds, clients)
            else:
                answers = load.once(own, requests[side], clients)
            traffic = tokens.traffic(before, side.cache.stats(), 1)
            results[side] = answers, traffic
        return results


def _runs(*sent):
    """The run of each side: {side: dict}.

    :param sent: results of :meth:`Experiment._send`, in order
    """
    results = {}
    for side in sent[0]:
        answers = load.joined([one[side][0] for one in sent])
        results[side] = answers.measure()
        for name in TRAFFIC:
            count = sum(one[side][1][name] for one in sent)
            results[side][name] = count / answers.requests
    return results


def _processes(count):
    return f'{count} process' + ('es' if count > 1 else '')


text = table.of_sides(
    'case', 'where', 'load', table.SIDE, table.RATE, *table.RATIO,
    *table.times('{:.1f}'), *((name, name, '{:.1f}') for name in TRAFFIC),
    ('refused s', 'refused', '{:.2f}'), table.RUNS,
)  # fmt: skip
