# SPDX-License-Identifier: Apache-2.0

"""Response times of a cluster whose nodes are in distant regions.

Both sides start each measurement at the same node, and the next one at the
next node. Otherwise, a scenario whose number of requests is a multiple of the
number of nodes could send the same request to the nearby node every time, on
one side only.
"""

import collections
import contextlib
import itertools
import statistics

from bench import client
from bench import cloud
from bench import load
from bench import population
from bench import rally
from bench import rally_client
from bench import runs
from bench import summary
from bench import table
from bench import testbed
from patchset import environment
from patchset import errors
from patchset import keystone_conf
from patchset import progress
from patchset.cluster import cluster
from patchset.cluster import databases
from patchset.cluster import layout

TITLE = 'Response times with nodes in distant regions'
CASES = ('uniform', 'hierarchical')  # the first one by default
DELAYS = {'small': (0,), 'full': (0, 100, 300)}  # milliseconds
_HIERARCHICAL = (150,)
# Of each request. With a delay, there is a third of the rounds.
LOADS = {
    'small': {'light': rally.Amount(2, 1, 3), 'high': rally.Amount(10, 10, 3)},
    'full': {'light': rally.Amount(3, 1, 6), 'high': rally.Amount(10, 10, 6)},
}
# A run with a delay takes more than an hour. By default, it would be random
# which of the few requests reads expired values again.
_OPTIONS = {'cache': {'expiration_time': '86400'}}
TOKENS = ('create_token', 'validate_token', 'validate_token_again')
SERVICES, USERS = 3, 8
_MAX_REGIONS = 9
_MAX_NODES_WITH_TWO_PROCESSES = 9  # with more nodes, each has one process
# With a delay, requests can occupy all processes of a node for longer than the
# default: HAProxy must not replace it by the nearby node.
_CHECK_TIMEOUT = 120  # seconds
_ROLE_SCENARIO = 'create_add_and_list_user_roles'


class Side(testbed.Side):
    """A cluster as a side of the comparison.

    :param name: ``stock`` or ``patched``
    :param running: a running :class:`patchset.cluster.cluster.Cluster`,
        without a delay
    """

    def __init__(self, name, running):
        first = running.nodes[0]
        super().__init__(name, first, running.database.servers[0])
        self.cluster = running
        self._nodes = itertools.cycle(running.layout.names)
        # All users are created at one node: others may not have them yet.
        node = cloud.Account(
            f'http://127.0.0.1:{first.port}/v3', first.credentials
        )
        self._services = population.accounts(node, SERVICES, 'service')
        self._users = population.accounts(node, USERS)
        self._validations = []
        self._roles = rally_client.roles(self)

    def query(self, statement):
        """Run SQL on the first server of the database."""
        return self.database.query(statement, databases.NAME)

    @property
    def processes(self):
        """Number of server processes of all nodes."""
        return self.keystone.processes * len(self.cluster.nodes)

    def clean(self):
        """Remove roles left by Rally, see :mod:`bench.rally_client`."""
        rally_client.restore(self, self._roles)

    def advance(self):
        """Let the next request be sent to the node after the previous one.

        :raises patchset.errors.Error: HAProxy does not use round robin
        """
        previous = next(self._nodes)
        for _ in range(2 * len(self.cluster.nodes)):
            headers, _ = client.request('GET', self.keystone, '')
            if headers['X-Served-By'] == previous:
                return
        raise errors.Error(f'{previous} receives no requests')

    def requests(self, kind, count):
        """Requests of :data:`TOKENS`, see :mod:`bench.load`.

        :param count: number of tokens, each of which every service validates
        """
        if kind == 'create_token':
            return [
                ('', '', client.login_body(user))
                for user in population.round_robin(self._users, count)
            ]
        if kind == 'validate_token':
            subjects = population.tokens(self._users, count)
            callers = client.map_concurrently(client.token, self._services)
            self._validations = load.validations(subjects, *callers)
        return self._validations


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    venv = environment.Environment(plan.pin.release, 'rally').ensure()
    results = runs.Runs(
        'nodes', 'database', 'case', 'delay', 'load', 'request'
    )
    for case in plan.cases or CASES[:1]:
        delays = DELAYS[plan.scale]
        if case == 'hierarchical':
            delays = _HIERARCHICAL
        with (
            started(plan, case) as sides,
            rally.processes(plan, venv, sides, 0) as rallies,
        ):
            testbed.for_each_side(Side.clean, sides)
            for delay in plan.delays or delays:
                for side in sides:
                    side.cluster.set_delay(delay)
                values = plan.nodes, plan.database, case, delay
                _rounds(plan.scale, sides, rallies, values, results)
    return points(results)


def arrangement(plan, case, kind):
    """The :class:`patchset.cluster.layout.Layout` of a side."""
    return layout.Layout(
        nodes=plan.nodes,
        regions=min(plan.nodes, _MAX_REGIONS),
        database=plan.database,
        cache='per-node',
        kind=kind,
        processes=2 if plan.nodes <= _MAX_NODES_WITH_TWO_PROCESSES else 1,
        grouped=case == 'hierarchical',
    )


@contextlib.contextmanager
def started(plan, case):
    """Start both clusters, without a delay; stop them at the end.

    :returns: list of two :class:`Side`
    """
    with contextlib.ExitStack() as stack:
        sides = []
        for name in ('stock', 'patched'):
            progress.step(f'starting the {name} cluster')
            running = cluster.Cluster(
                plan.pin,
                arrangement(plan, case, name),
                options=keystone_conf.merge(plan.options, _OPTIONS),
                check_timeout=_CHECK_TIMEOUT,
            )
            sides.append(Side(name, stack.enter_context(running)))
        for side in sides:
            side.cluster.database.catch_up()
        yield sides


def _rounds(scale, sides, rallies, values, results):
    """Measure each request under each load, with the current delay."""
    *_, delay = values
    requests = *TOKENS, *rally.SCENARIOS
    for name, amount in LOADS[scale].items():
        count = amount.rounds // 3 if delay else amount.rounds
        for request, side in testbed.rounds(sides, count, requests):
            results.measure(
                side, (*values, name, request), measure,
                side, rallies[side], request, amount,
            )  # fmt: skip


def measure(side, rally_process, request, amount):
    """Measure a request of :data:`TOKENS`, or a scenario.

    :param rally_process: a :class:`bench.rally_client.Rally`
    :param amount: a :class:`bench.rally.Amount`
    :returns: the result of :meth:`bench.load.Answers.measure`,
        ``failed``, the number of failures, and ``answers``
    """
    if request in TOKENS:
        # On average, each process receives two of the validations.
        tokens = 2 * max(amount.iterations, side.processes // SERVICES)
        requests = side.requests(request, tokens)
        side.advance()
        answers = load.once([side.url], requests, amount.clients, strict=False)
        failed = answers.failed
    else:
        side.advance()
        workload = rally_process.run(
            request, amount.iterations, amount.clients
        )
        answers, failed = rally.answers(workload)
    if request == _ROLE_SCENARIO:
        side.clean()
    return {**answers.measure(), 'failed': failed, 'answers': answers}


def points(results):
    """Summarize the rounds.

    :param results: a :class:`bench.runs.Runs`
    :returns: the result of :meth:`bench.runs.Runs.points`, and for each side
        that of :func:`distribution`
    """
    points = results.points(average=summary.trimmed_mean)
    for point in points:
        for side in summary.sides(point):
            point[side].update(distribution(point[side]['runs']))
    return points


def distribution(runs):
    """Summarize the response times of all rounds.

    :param runs: list of results of :func:`measure`, from which ``answers`` is
        removed
    :returns: dict with ``mean``, ``deviation`` (standard deviation), ``p95``
        and ``cumulative``, the percentiles 0 to 100, all in milliseconds; and
        ``failed``, as a share of all requests
    """
    answers = load.joined([run.pop('answers') for run in runs])
    failed = sum(run['failed'] for run in runs)
    microseconds = collections.Counter(answers.times).elements()
    times = [time / 1000 for time in microseconds]
    return {
        'mean': round(statistics.mean(times), 1),
        'deviation': round(statistics.pstdev(times), 1),
        'p95': answers.percentile(95),
        'failed': round(failed / (failed + len(times)), 4),
        'cumulative': [answers.percentile(percent) for percent in range(101)],
    }


text = table.of_sides(
    'nodes', 'database', ('delays', 'case'), ('ms', 'delay'), 'load',
    'request', table.SIDE, table.RATE, *table.RATIO,
    *table.times('{:.1f}', ('mean', 'deviation', 'p95')),
    ('failed', 'failed', table.percent), table.RUNS,
)  # fmt: skip
