# SPDX-License-Identifier: Apache-2.0

"""Rally scenarios of the identity service, on several databases.

The speed of a machine can change by a quarter from one minute to the next.
The iterations are therefore run in short rounds: in each, patched runs a
scenario immediately after stock.

With a delay, there is one client: with ten, runs of one side differed as much
as the sides. Cached values are then kept for an hour, and Keystone is not
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
    """Number of iterations, clients and rounds of a scenario.

    :param iterations: number of iterations in a round
    :param clients: number of concurrent iterations
    :param rounds: number of rounds on each side
    """

    iterations: int
    clients: int
    rounds: int


WITHOUT_DELAY = {'small': Amount(10, 10, 3), 'full': Amount(20, 10, 6)}
WITH_DELAY = Amount(5, 1, 1)
GALERA_WITH_DELAY = Amount(5, 1, 8)
# Default databases.
DATABASES = {'full': tuple(databases.ALL)}
DELAYS = {'small': (0,), 'full': (0, 100)}  # milliseconds, round trip
_WARM = 4  # concurrent iterations, for two processes
_DELAY_OPTIONS = {'cache': {'expiration_time': '3600'}}


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    venv = environment.Environment(plan.pin.release, 'rally').ensure()
    results = runs.Runs('database', 'delay', 'scenario')
    for name in plan.databases:
        for delay in plan.delays or DELAYS[plan.scale]:
            one = dataclasses.replace(plan, databases=(name,), delay=delay)
            with testbed.both(one, _DELAY_OPTIONS if delay else None) as sides:
                _rounds(one, venv, sides, results)
    return points(results)


def amount(plan):
    """The :class:`Amount` of a plan."""
    if not plan.delay:
        return WITHOUT_DELAY[plan.scale]
    return GALERA_WITH_DELAY if plan.database == 'galera' else WITH_DELAY


def _rounds(plan, venv, sides, results):
    chosen = amount(plan)
    roles = {side: rally_client.roles(side) for side in sides}
    for number in range(chosen.rounds):
        with processes(plan, venv, sides, number) as rallies:
            for scenario, side in testbed.rounds(sides, 1, SCENARIOS):
                results.measure(
                    side, (plan.database, plan.delay, scenario), measure,
                    side, rallies[side], roles[side], scenario, chosen,
                )  # fmt: skip


@contextlib.contextmanager
def processes(plan, venv, sides, number):
    """Start the processes of a round; those of Rally end with the block.

    :param venv: the environment with rally-openstack
    :param number: number of the round, from 0
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


def measure(side, rally, roles, scenario, amount):
    """Run a scenario on one side, and count the statements.

    :param rally: its :class:`bench.rally_client.Rally`
    :param roles: the original roles, see :mod:`bench.rally_client`
    :param amount: an :class:`Amount`
    :returns: dict with ``clients``, ``rate`` (successful iterations per
        second), ``p50`` and ``p99`` (their duration in milliseconds),
        ``failed`` (iterations), ``reads`` and ``writes`` (statements)
    """
    rally_client.restore(side, roles)
    before = side.database.statements()
    workload = rally.run(scenario, amount.iterations, amount.clients)
    after = side.database.statements()
    successful, failed = answers(workload)
    return {
        'clients': amount.clients,
        **successful.measure(),
        'failed': failed,
        **{name: after[name] - before[name] for name in after},
    }


def answers(workload):
    """The iterations of a workload.

    :param workload: dict, see :mod:`bench.rally_worker`
    :returns: the successful ones, as a :class:`bench.load.Answers`, and the
        number of failed ones
    :raises patchset.errors.Error: no iteration was successful
    """
    failures = [reason for _, reason in workload['iterations'] if reason]
    times = collections.Counter(
        round(1_000_000 * seconds)
        for seconds, reason in workload['iterations']
        if not reason
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


text = table.of_sides(
    'database', ('delay ms', 'delay'), 'scenario', table.SIDE, table.RATE,
    *table.RATIO, *table.times(), ('failed', 'failed', '{}'),
    ('reads', 'reads', table.percent), table.RUNS,
)  # fmt: skip
