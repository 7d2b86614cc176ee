# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Rally's scenarios of the identity service, on several databases.

Those of the study of a Keystone in many regions of 2018, by rally-openstack:
100 iterations each, ten at once, by the admin. How many statements read and
how many write is asked of the database's own counters, what rally removes in
the end included.

With the full scale, each database of the plan (:data:`DATABASES` if none is
named) is measured with no delay and with 100 ms between Keystone and the
database, or between the nodes of the cluster; with the small one, with no
delay. Stock and patched take turns, and swap them from round to round.

With the delay there is one client. Of ten, each invalidates what the others
are about to read, for which they wait many seconds: how often is chance, and
runs of one side were as far apart as the sides are. What one client waits for
is the line, always as long, so a few iterations tell. In a cluster only writes
wait, so there are more.

A process of stock that was asked for a token while a role went may answer 404
to each token from then on: it reads what the last request left on its thread,
and none gets as far as to leave something else. Rally then refuses to go on. A
request without a token ends that, so all processes answer some between the
scenarios, on both sides.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

from bench import client
from bench import databases
from bench import load
from bench import rig
from bench import steal
from bench import summary
from bench import table
from patchset import child
from patchset import environment
from patchset import errors
from patchset import logs
from patchset import paths
from patchset import progress

QUESTION = 'What do whole scenarios take, and how does a distant database do?'

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


NEAR = {'small': Amount(10, 10, 2), 'full': Amount(100, 10, 3)}
FAR = {
    'mariadb': Amount(3, 1, 1),
    'postgresql': Amount(3, 1, 1),
    'galera': Amount(10, 1, 3),
}
# What it runs on if no database is named.
DATABASES = {'full': tuple(databases.ALL)}
DELAYS = {'small': (0,), 'full': (0, 100)}  # milliseconds, both ways


def run(plan):
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: what :func:`points` gives
    """
    venv = environment.Environment(plan.pin.release, 'rally').ensure()
    measured = {}
    for name in plan.databases:
        for delay in DELAYS[plan.scale]:
            chosen = dataclasses.replace(plan, databases=(name,), delay=delay)
            with rig.both(chosen) as sides, contextlib.ExitStack() as stack:
                rallies = {
                    side.name: stack.enter_context(Rally(side, venv))
                    for side in sides
                }
                _rounds(sides, rallies, chosen, measured)
    return points(measured)


def _rounds(sides, rallies, plan, measured):
    much = amount(plan)
    for number in range(much.rounds):
        for scenario in SCENARIOS:
            for side in rig.turn(sides, number):
                log_in(side)
                one = measure(side, rallies[side.name], scenario, much)
                about = side.name, plan.database, plan.delay, scenario
                measured.setdefault(about, []).append(one)
                progress.step(
                    f'{number + 1} of {much.rounds}: {plan.database}, '
                    f'{plan.delay} ms, {scenario}, {side.name}: '
                    f'{table.rate(one["rate"])}/s'
                )


def amount(plan):
    """The :class:`Amount` of a plan."""
    return FAR[plan.database] if plan.delay else NEAR[plan.scale]


def log_in(side):
    """Have each process of a side answer a request without a token.

    :raises patchset.errors.Error: an answer was not a success
    """
    keystone = side.keystone
    # ApacheBench sends one alone; of the others that wait at once each
    # process takes one, and is busy with it while the rest is taken.
    clients = 2 * keystone.processes
    load.number(side.url, {}, 2 * clients, clients, client.login(keystone))


def measure(side, rally, scenario, much):
    """Run a scenario, and count the statements.

    :param much: an :class:`Amount`
    :returns: dict with ``rate`` (iterations that succeeded, per second in
        which the machine ran), ``steal`` (see :mod:`bench.steal`), ``p50``
        and ``p99`` (their milliseconds), ``failed`` (iterations), ``reads``
        and ``writes`` (statements)
    """
    before = side.sql.statements(side.database)
    with steal.Watch() as watch:
        workload = rally.run(scenario, much.times, much.at_once)
    after = side.sql.statements(side.database)
    return {
        **sum_up(workload, watch.share),
        **{name: after[name] - before[name] for name in after},
    }


def sum_up(workload, stolen=0):
    """What rally tells of a workload, as :func:`measure` gives it.

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


class Rally:
    """Rally for one side: a :mod:`bench.rally_worker`, ends with the block.

    :param side: a :class:`bench.rig.Side`
    :param venv: the environment that has rally-openstack
    """

    def __init__(self, side, venv):
        self._side = side
        self._venv = venv
        self._stack = contextlib.ExitStack()
        self._process = None
        self._log = None

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(
                stack.enter_context(
                    tempfile.TemporaryDirectory(prefix='ks-rally-')
                )
            )
            self._log = folder / 'log'
            self._process = child.start(
                [self._venv.python, '-P', '-m', 'bench.rally_worker'],
                cwd=folder,
                env={
                    **os.environ,
                    **self._venv.variables(paths.ROOT),
                    # It looks for files of its own there.
                    'HOME': str(folder),
                },
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stack.enter_context(open(self._log, 'w')),
                text=True,
            )
            stack.callback(self._end)
            self._ask(self._spec())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def run(self, scenario, times, at_once):
        """Run a scenario of KeystoneBasic.

        :returns: dict, see :mod:`bench.rally_worker`
        :raises patchset.errors.Error: rally has ended
        """
        name = f'KeystoneBasic.{scenario}'
        runner = {'constant': {'times': times, 'concurrency': at_once}}
        subtask = {'title': name, 'scenario': {name: {}}, 'runner': runner}
        return json.loads(
            self._ask({'version': 2, 'title': name, 'subtasks': [subtask]})
        )

    def _ask(self, question):
        """Its answer to a line of JSON."""
        # One that has ended is told of below.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(question) + '\n')
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise errors.Error(f'rally ended: {logs.reason(self._log, 0)}')
        return answer

    def _end(self):
        child.stop(self._process)
        self._process.stdin.close()
        self._process.stdout.close()

    def _spec(self):
        variables = self._side.keystone.credentials
        admin = {
            'username': variables['OS_USERNAME'],
            'password': variables['OS_PASSWORD'],
            'project_name': variables['OS_PROJECT_NAME'],
            'user_domain_name': variables['OS_USER_DOMAIN_NAME'],
            'project_domain_name': variables['OS_PROJECT_DOMAIN_NAME'],
        }
        return {
            'existing@openstack': {
                'auth_url': variables['OS_AUTH_URL'],
                'region_name': variables['OS_REGION_NAME'],
                'admin': admin,
                # Or rally would make one for each scenario, and two before.
                'users': [admin],
            }
        }


def points(measured):
    """Sum up the rounds.

    :param measured: {(side, database, delay, scenario): list of what
        :func:`measure` gave}
    :returns: list of dicts, one per database, delay and scenario:
        ``database``, ``delay``, ``scenario``, what
        :func:`bench.summary.compared` gives, and for each side ``failed``
        (share of the iterations) and ``reads`` (share of the statements)
    """
    found = []
    for about in dict.fromkeys(about[1:] for about in measured):
        runs = {side: measured[side, *about] for side in ('stock', 'patched')}
        point = dict(
            zip(('database', 'delay', 'scenario'), about, strict=True)
        )
        point.update(summary.compared(runs))
        for side, of_side in runs.items():
            reads, writes = (
                sum(one[name] for one in of_side)
                for name in ('reads', 'writes')
            )
            failed = [one['failed'] for one in of_side]
            point[side]['failed'] = statistics.mean(failed)
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
            f'{one["failed"]:.0f}', table.percent(one['reads']),
            one['repeats'],
        ]  # fmt: skip

    return table.of_sides(head, found, cells)
