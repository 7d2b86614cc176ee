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

import collections
import contextlib
import dataclasses
import itertools

from bench import databases
from bench import leftovers
from bench import load
from bench import rally_client
from bench import rig
from bench import runs
from bench import steal
from bench import summary
from bench import table
from patchset import environment
from patchset import errors

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
    order = itertools.product(plan.databases, delays, SCENARIOS)
    found = new_runs(order)
    for group in groups(plan, delays):
        with contextlib.ExitStack() as stack:
            places = [
                Place(one, venv, stack.enter_context(_sides(one)))
                for one in group
            ]
            _rounds(places, found)
    return points(found)


def new_runs(order=()):
    """Runs without any yet."""
    return runs.Runs('database', 'delay', 'scenario', order=order)


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


def _rounds(places, found):
    much = amount(places[0].plan)
    for number in range(much.rounds):
        with contextlib.ExitStack() as stack:
            for place in places:
                stack.enter_context(place.processes(number))
            _round(places, number, much, found)


def _round(places, number, much, found):
    for scenario in SCENARIOS:
        turns = [rig.turn(place.sides, number) for place in places]
        for sides in zip(*turns, strict=True):
            one = steal.calm(measure, places, sides, scenario, much)
            for place, side in zip(places, sides, strict=True):
                about = place.plan.database, place.plan.delay, scenario
                run = {**one[place], 'steal': one['steal']}
                found.add(side, about, run)


def measure(places, sides, scenario, much):
    """Run a scenario on one side of each place at once; count the statements.

    :param places: list of :class:`Place`
    :param sides: for each of them, one :class:`bench.rig.Side`
    :param much: an :class:`Amount`
    :returns: {place: dict with ``clients``, ``rate`` (iterations that
        succeeded, per second), ``p50`` and ``p99`` (their milliseconds),
        ``failed`` (iterations), ``reads`` and ``writes`` (statements)}
    """
    rallies = []
    for place, side in zip(places, sides, strict=True):
        place.roles[side.name].restore()
        leftovers.log_in(side)
        rallies.append(place.rallies[side.name])
    before = [side.sql.statements(side.database) for side in sides]
    workloads = _at_once(rallies, scenario, much.times, much.at_once)
    found = {}
    for place, side, first, workload in zip(
        places, sides, before, workloads, strict=True
    ):
        last = side.sql.statements(side.database)
        found[place] = {
            'clients': much.at_once,
            **sum_up(workload),
            **{name: last[name] - first[name] for name in last},
        }
    return found


def _at_once(rallies, scenario, times, at_once):
    """Run a scenario on several Rallies; what each one's ``end`` gave."""
    for rally in rallies:
        rally.begin(scenario, times, at_once)
    return [rally.end() for rally in rallies]


def sum_up(workload):
    """What rally tells of a workload, as :func:`measure` gives it.

    :param workload: dict, see :mod:`bench.rally_worker`
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
    found = load.Answers(rate, times).measure()
    return {**found, 'failed': len(failures)}


def points(found):
    """Sum up the rounds.

    :param found: a :class:`bench.runs.Runs`, see :func:`new_runs`
    :returns: what :meth:`bench.runs.Runs.points` gives, ``clients``, and for
        each side ``failed`` (iterations of all rounds) and ``reads`` (share of
        the statements)
    """
    points = found.points(middle=summary.trimmed_mean)
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
    *table.BY_STOCK, *table.times(), ('failed', 'failed', '{}'),
    ('reads', 'reads', table.percent), table.RUNS,
)  # fmt: skip
