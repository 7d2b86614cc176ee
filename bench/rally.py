# SPDX-License-Identifier: Apache-2.0

"""Rally scenarios of the identity service, on several databases.

A machine can become a quarter faster or slower from one minute to the next.
The iterations are therefore run in short rounds: in each, stock and patched
run a scenario one immediately after the other.

With a delay, there is one client: with ten, runs of one side differed as much
as the sides. Cached values are kept for an hour there, and Keystone is not
restarted between the rounds.
"""

import collections
import contextlib
import dataclasses

from bench import client
from bench import databases
from bench import load
from bench import rally_client
from bench import runs
from bench import summary
from bench import table
from bench import testbed
from patchset import environment
from patchset import errors

TITLE = 'Rally scenarios, with and without a delay to the database'

SCENARIOS = (
    'authenticate_user_and_validate_token',
    'create_user_update_password',
    'create_add_and_list_user_roles',
    'create_and_list_tenants',
    'get_entities',
    'create_user_set_enabled_and_delete',
    'create_and_list_users',
)


@dataclasses.dataclass(frozen=True)
class Amount:
    """How much is run of a scenario.

    :param times: iterations in a round
    :param at_once: clients
    :param rounds: how often stock and patched take turns
    """

    times: int
    at_once: int
    rounds: int


NEAR = {'small': Amount(10, 10, 3), 'full': Amount(20, 10, 6)}
FAR = Amount(5, 1, 1)
FAR_CLUSTER = Amount(5, 1, 8)
# What it runs on if no database is named.
DATABASES = {'full': tuple(databases.ALL)}
DELAYS = {'small': (0,), 'full': (0, 100)}  # milliseconds, both ways
_WARM = 4  # iterations, all at once, for two processes
_FAR_OPTIONS = {'cache': {'expiration_time': '3600'}}


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    venv = environment.Environment(plan.pin.release, 'rally').ensure()
    results = runs.Runs('database', 'delay', 'scenario')
    for name in plan.databases:
        for delay in plan.delays or DELAYS[plan.scale]:
            one = dataclasses.replace(plan, databases=(name,), delay=delay)
            with testbed.both(one, _FAR_OPTIONS if delay else None) as sides:
                _rounds(one, venv, sides, results)
    return points(results)


def amount(plan):
    """The :class:`Amount` of a plan."""
    if not plan.delay:
        return NEAR[plan.scale]
    return FAR_CLUSTER if plan.database == 'galera' else FAR


def _rounds(plan, venv, sides, results):
    much = amount(plan)
    roles = {side: rally_client.roles(side) for side in sides}
    for number in range(much.rounds):
        with processes(plan, venv, sides, number) as rallies:
            for scenario, side in testbed.rounds(sides, 1, SCENARIOS):
                results.measure(
                    side, (plan.database, plan.delay, scenario), measure,
                    side, rallies[side], roles[side], scenario, much,
                )  # fmt: skip


@contextlib.contextmanager
def processes(plan, venv, sides, number):
    """Start what a round needs; its Rallies end with the block.

    :param venv: the environment that has rally-openstack
    :param number: of the round, from 0
    :returns: {side: :class:`bench.rally_client.Rally`}
    """
    with contextlib.ExitStack() as stack:
        rallies = {
            side: stack.enter_context(rally_client.started(side, venv))
            for side in sides
        }
        if number and not plan.delay:
            for side in sides:
                side.keystone.restart()
        for rally in rallies.values():
            rally.get_ready()
        if not plan.delay:
            client.map_concurrently(_warm_up, rallies.values())
        yield rallies


def _warm_up(rally):
    for scenario in SCENARIOS:
        rally.run(scenario, _WARM, _WARM)


def measure(side, rally, roles, scenario, much):
    """Run a scenario on one side, and count the statements.

    :param rally: its :class:`bench.rally_client.Rally`
    :param roles: those it may have, see :mod:`bench.rally_client`
    :param much: an :class:`Amount`
    :returns: dict with ``clients``, ``rate`` (iterations that succeeded, per
        second), ``p50`` and ``p99`` (their milliseconds), ``failed``
        (iterations), ``reads`` and ``writes`` (statements)
    """
    rally_client.restore(side, roles)
    first = side.sql.statements(side.database)
    workload = rally.run(scenario, much.times, much.at_once)
    last = side.sql.statements(side.database)
    return {
        'clients': much.at_once,
        **sum_up(workload),
        **{name: last[name] - first[name] for name in last},
    }


def sum_up(workload):
    """What rally tells of a workload, as :func:`measure` gives it."""
    results, failed = answers(workload)
    return {**results.measure(), 'failed': failed}


def answers(workload):
    """The iterations of a workload.

    :param workload: dict, see :mod:`bench.rally_worker`
    :returns: those that succeeded, as a :class:`bench.load.Answers`, and the
        number of those that failed
    :raises patchset.errors.Error: no iteration has succeeded
    """
    failures = [why for _, why in workload['iterations'] if why]
    times = collections.Counter(
        round(1_000_000 * seconds)
        for seconds, why in workload['iterations']
        if not why
    )
    if not times:
        reason = (failures or ['none was run'])[0]
        raise errors.Error(f'rally: no iteration succeeded: {reason}')
    rate = times.total() / workload['load_duration']
    return load.Answers(rate, times), len(failures)


def points(results):
    """Summarize the rounds.

    :param results: a :class:`bench.runs.Runs`
    :returns: the result of :meth:`bench.runs.Runs.points`, ``clients``, and
        for each side ``failed`` (iterations of all rounds) and ``reads``
        (share of the statements)
    """
    points = results.points(average=summary.trimmed_mean)
    for point in points:
        point['clients'] = point['stock']['runs'][0]['clients']
        for side in summary.sides(point):
            reads, writes, failed = (
                sum(run[name] for run in point[side]['runs'])
                for name in ('reads', 'writes', 'failed')
            )
            point[side]['failed'] = failed
            point[side]['reads'] = round(reads / (reads + writes), 4)
    return points


#: The points as a table.
text = table.of_sides(
    'database', ('delay ms', 'delay'), 'scenario', table.SIDE, table.RATE,
    *table.RATIO, *table.times(), ('failed', 'failed', '{}'),
    ('reads', 'reads', table.percent), table.RUNS,
)  # fmt: skip
