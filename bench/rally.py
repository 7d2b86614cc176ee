# SPDX-License-Identifier: Apache-2.0

"""Rally scenarios of the identity service, on several databases.

The scenarios are those of a study of 2018 of a single Keystone for many
regions, run by rally-openstack as the admin, ten concurrently. The numbers of
statements that read and write are taken from the counters of the database, and
include the cleanup of Rally.

A machine can become a quarter faster or slower from one minute to the next.
The iterations are therefore run in short rounds: in each, stock and patched
run a scenario one immediately after the other, and alternate from round to
round. A process can also be a tenth faster at one scenario than another one
started a minute before, for its whole lifetime. Each round therefore starts
with new Keystone and Rally processes, which run a few iterations of each
scenario before the measurement. Before a scenario, roles left by Rally are
removed (:mod:`bench.leftovers`).

At full scale, each database of the plan (:data:`DATABASES` by default) is
measured with no delay and with 100 ms between Keystone and the database, or
between the nodes of the cluster; at small scale, with no delay. ``--delay``
selects other delays.

With a delay, there is one client. With ten, each invalidates values that the
others are about to read, and have to wait for, for many seconds. How often
this happens is random, and runs of one side differed as much as the sides. A
single client waits for the network, which always takes the same time, so that
a few iterations are sufficient, and multiple distant databases are measured at
the same time. Cached values are kept for an hour there: loading an expired one
takes a fifth of an iteration, and in a real cloud, many iterations at such a
rate lie between two of these. In a cluster, only writes wait, so there are
more rounds, without concurrent measurements. Keystone is not restarted between
these rounds.
"""

import contextlib
import dataclasses

from bench import databases
from bench import leftovers
from bench import load
from bench import rally_client
from bench import rig
from bench import steal
from bench import summary
from bench import table
from patchset import environment
from patchset import errors
from patchset import progress

TITLE = 'Complete scenarios, with a nearby and a distant database'

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
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: what :func:`points` gives
    """
    venv = environment.Environment(plan.pin.release, 'rally').ensure()
    delays = plan.delays or DELAYS[plan.scale]
    measured = {
        (side, name, delay, scenario): []
        for name in plan.databases
        for delay in delays
        for scenario in SCENARIOS
        for side in ('stock', 'patched')
    }
    for group in groups(plan, delays):
        with contextlib.ExitStack() as stack:
            places = [
                Place(one, venv, stack.enter_context(_sides(one)))
                for one in group
            ]
            _rounds(places, measured)
    return points(measured)


def groups(plan, delays):
    """What is measured one after the other.

    :param delays: milliseconds
    :returns: list of lists of plans of one database and delay; those of a list
        are measured at the same time
    """
    found = []
    for delay in delays:
        far = []
        for name in plan.databases:
            one = dataclasses.replace(plan, databases=(name,), delay=delay)
            if amount(one) == FAR:
                far.append(one)
            else:
                found.append([one])
        if far:
            found.append(far)
    return found


def amount(plan):
    """The :class:`Amount` of a plan."""
    if not plan.delay:
        return NEAR[plan.scale]
    return FAR_CLUSTER if plan.database == 'galera' else FAR


def _sides(plan):
    return rig.both(plan, _FAR_OPTIONS if plan.delay else None)


class Place:
    """A database with both sides on it, and in a round a Rally for each.

    :param plan: a :class:`bench.plan.Plan`
    :param venv: the environment that has rally-openstack
    :param sides: what :func:`bench.rig.both` gave
    """

    def __init__(self, plan, venv, sides):
        self.plan = plan
        self.sides = sides
        self.rallies = {}
        self.roles = {side.name: leftovers.Roles(side) for side in sides}
        self._venv = venv

    @contextlib.contextmanager
    def processes(self, number):
        """What a round needs to run; its Rallies end with the block.

        :param number: of the round, from 0
        """
        with contextlib.ExitStack() as stack:
            self.rallies = {
                side.name: stack.enter_context(
                    rally_client.Rally(side, self._venv)
                )
                for side in self.sides
            }
            near = not self.plan.delay
            if near and number:
                for side in self.sides:
                    side.keystone.restart()
            for rally in self.rallies.values():
                rally.get_ready()
            if near:
                self._warm_up()
            yield

    def _warm_up(self):
        for scenario in SCENARIOS:
            _at_once(self.rallies.values(), scenario, _WARM, _WARM)


def _rounds(places, measured):
    much = amount(places[0].plan)
    for number in range(much.rounds):
        with contextlib.ExitStack() as stack:
            for place in places:
                stack.enter_context(place.processes(number))
            _round(places, number, much, measured)


def _round(places, number, much, measured):
    for scenario in SCENARIOS:
        turns = [rig.turn(place.sides, number) for place in places]
        for sides in zip(*turns, strict=True):
            found = measure(places, sides, scenario, much)
            for place, side, one in zip(places, sides, found, strict=True):
                where = place.plan.database, place.plan.delay, scenario
                measured[side.name, *where].append(one)
                progress.step(
                    f'{number + 1} of {much.rounds}: {where[0]}, '
                    f'{where[1]} ms, {scenario}, {side.name}: '
                    f'{table.rate(one["rate"])}/s'
                )


def measure(places, sides, scenario, much):
    """Run a scenario on one side of each place at once; count the statements.

    :param places: list of :class:`Place`
    :param sides: for each of them, one :class:`bench.rig.Side`
    :param much: an :class:`Amount`
    :returns: list of dicts with ``clients``, ``rate`` (iterations that
        succeeded, per second in which the machine ran), ``steal`` (see
        :mod:`bench.steal`), ``p50`` and ``p99`` (their milliseconds),
        ``failed`` (iterations), ``reads`` and ``writes`` (statements)
    """
    rallies = []
    for place, side in zip(places, sides, strict=True):
        place.roles[side.name].restore()
        leftovers.log_in(side)
        rallies.append(place.rallies[side.name])
    before = [side.sql.statements(side.database) for side in sides]
    with steal.Watch() as watch:
        workloads = _at_once(rallies, scenario, much.times, much.at_once)
    found = []
    for side, first, workload in zip(sides, before, workloads, strict=True):
        last = side.sql.statements(side.database)
        found.append(
            {
                'clients': much.at_once,
                **sum_up(workload, watch.share),
                **{name: last[name] - first[name] for name in last},
            }
        )
    return found


def _at_once(rallies, scenario, times, at_once):
    """Run a scenario on several Rallies; what each one's ``end`` gave."""
    for rally in rallies:
        rally.begin(scenario, times, at_once)
    return [rally.end() for rally in rallies]


def sum_up(workload, stolen=0):
    """What rally tells of a workload, as :func:`measure` gives it.

    :param workload: dict, see :mod:`bench.rally_worker`
    :param stolen: the share of the time that was stolen
    :raises patchset.errors.Error: no iteration has succeeded
    """
    times, failures = [], []
    for seconds, failure in workload['iterations']:
        if failure:
            failures.append(failure)
        else:
            times.append(1000 * seconds)
    if not times:
        reason = (failures or ['none was run'])[0]
        raise errors.Error(f'rally: no iteration succeeded: {reason}')
    return {
        'rate': round(
            len(times) / workload['load_duration'] / (1 - stolen), 4
        ),
        'steal': round(stolen, 3),
        'p50': round(load.percentile(times, 50)),
        'p99': round(load.percentile(times, 99)),
        'failed': len(failures),
    }


def points(measured):
    """Sum up the rounds.

    :param measured: {(side, database, delay, scenario): list of what
        :func:`measure` gave}
    :returns: list of dicts, one per database, delay and scenario:
        ``database``, ``delay``, ``scenario``, ``clients``, what
        :func:`bench.summary.compared` gives, and for each side ``failed``
        (iterations of all rounds) and ``reads`` (share of the statements)
    """
    found = []
    for about in dict.fromkeys(about[1:] for about in measured):
        runs = {side: measured[side, *about] for side in ('stock', 'patched')}
        point = dict(
            zip(('database', 'delay', 'scenario'), about, strict=True)
        )
        point['clients'] = runs['stock'][0]['clients']
        point.update(summary.compared(runs, summary.trimmed_mean))
        for side, of_side in runs.items():
            reads, writes = (
                sum(one[name] for one in of_side)
                for name in ('reads', 'writes')
            )
            point[side]['failed'] = sum(one['failed'] for one in of_side)
            point[side]['reads'] = round(reads / (reads + writes), 4)
        found.append(point)
    return found


def text(found):
    """The points as a table."""
    head = [
        'database', 'delay ms', 'scenario', 'side', '1/s', 'by stock',
        'spread', 'p50 ms', 'p99 ms', 'failed', 'reads', 'runs',
    ]  # fmt: skip

    def cells(point, side, one):
        return [
            point['database'], point['delay'], point['scenario'],
            side, table.rate(one['rate']),
            *table.by_stock(point, side),
            f'{one["p50"]:.0f}', f'{one["p99"]:.0f}',
            one['failed'], table.percent(one['reads']), one['repeats'],
        ]  # fmt: skip

    return table.of_sides(head, found, cells)
