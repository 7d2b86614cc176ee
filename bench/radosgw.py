# SPDX-License-Identifier: Apache-2.0

"""S3 requests through a RadosGW that authenticates them with Keystone.

The CPU time of Keystone's processes is divided by the number of S3 requests.
"""

import concurrent.futures
import math
import os
import pathlib

from bench import client
from bench import gateways
from bench import load
from bench import runs
from bench import summary
from bench import table
from bench import testbed
from patchset import child
from patchset import environment
from patchset import pins
from patchset import progress
from patchset import system

TITLE = 'Cost of an S3 request through RadosGW'
PACKAGES = 'radosgw'  # profile of bindep.txt, which nothing else needs
KINDS = ('get', 'put', 'list')
FIRST, VALIDATIONS, HASHED = 'first', 'validations', 'hashed'
CACHES = {'off': 0, 'one': 1, 'on': 10_000}  # entries; the last is usual
_ASKING = ('off', 'one')  # those with requests to Keystone for each
SECONDS = {'small': 5, 'full': 10}  # four clients wait a second each
REPEATS = {'small': 2, 'full': 6}
FIRSTS = {'small': 1, 'full': 3}  # rounds of new clients
CLIENTS, MANY, VALIDATING = 4, 64, 2
TOKENS = 50
_SIGNED = 500  # requests of each kind, which take turns
_PERCENTS = (50, 95, 99)
_REMEMBERED = 60  # seconds
_TICK = 1 / os.sysconf('SC_CLK_TCK')  # seconds
# Stock has no such option, and leaves it.
_OPTIONS = {
    seconds: {
        'identity': {
            'password_hash_rounds': 12,
            'password_check_cache_time': seconds,
        }
    }
    for seconds in (0, _REMEMBERED)
}


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    system.ensure(PACKAGES)
    venv = environment.Environment(pins.newest(), 'bench').ensure()
    results = runs.Runs('kind', 'cache')
    with (
        testbed.both(plan, _OPTIONS[_REMEMBERED]) as sides,
        gateways.started(sides, CACHES, venv) as servers,
    ):
        progress.step(f'{MANY} access keys for each RadosGW')
        testbed.for_each_side(lambda side: _prepare(side, servers), sides)
        tokens = {
            side: client.rescoped_tokens(side.keystone, TOKENS)
            for side in sides
        }
        seconds, repeats = SECONDS[plan.scale], REPEATS[plan.scale]
        loads = [
            *((kind, cache) for cache in CACHES for kind in KINDS),
            *((VALIDATIONS, cache) for cache in _ASKING),
        ]
        for (kind, cache), side in testbed.rounds(sides, repeats, loads):
            one = measure, servers[side, cache], kind, seconds
            if kind == VALIDATIONS:
                rate = results.measured['get', cache]['stock'][-1]['rate']
                one = beside, servers[side, cache], tokens[side], rate, seconds
            results.measure(side, (kind, cache), *one)
        _restart(sides, 0)
        for kind, side in testbed.rounds(sides, repeats, (HASHED,)):
            server = servers[side, 'off']
            results.measure(
                side, (kind, 'off'), measure, server, 'get', seconds
            )
        _restart(sides, _REMEMBERED)
        for cache, side in testbed.rounds(
            sides, FIRSTS[plan.scale], ('off', 'on')
        ):
            results.measure(side, (FIRST, cache), first, servers[side, cache])
    return points(results)


def _prepare(side, servers):
    for cache in CACHES:
        servers[side, cache].prepare(KINDS, MANY, _SIGNED)


def _restart(sides, remembered):
    """Start both anew, to remember right passwords for so many seconds."""
    for side in sides:
        side.keystone.restart(_OPTIONS[remembered])


def measure(server, kind, seconds):
    """One slice of time.

    :param server: a :class:`bench.gateways.Gateway`
    :returns: what :func:`_counted` does
    """
    return _counted(server, lambda: server.load(kind, seconds, CLIENTS))


def first(server):
    """New clients, all at once.

    :returns: what :func:`_counted` does
    """
    # Signed before: Keystone knows the keys by then, and forgets them again.
    requests = server.sign(['get'], server.keys(MANY), 2 * MANY)['get']
    server.side.keystone.restart()
    server.side.flush_cache()
    return _counted(server, lambda: load.once([server.url], requests, MANY))


def _counted(server, send):
    """Put a load on, and count what Keystone needs for it.

    :returns: the result of :meth:`bench.load.Answers.measure`, and
        ``cpu``, milliseconds of the processors for each request
    """
    keystone = server.side.keystone
    before = of_workers(keystone)
    answers = send()
    cpu = 1000 * (of_workers(keystone) - before) / answers.requests
    return {**answers.measure(_PERCENTS), 'cpu': round(cpu, 2)}


def of_workers(keystone) -> float:
    """Processor seconds that the running processes have used so far.

    :param keystone: a :class:`patchset.deployment.Deployment`, running
    """
    return sum(
        used(pathlib.Path(f'/proc/{pid}/stat').read_text())
        for pid in child.children(keystone.pid)
    )


def used(text: str) -> float:
    """Processor seconds of a process, its own and the kernel's for it.

    :param text: what its ``stat`` says, see proc_pid_stat(5)
    """
    # The second field is the program's name, which may have anything in it.
    fields = text.rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) * _TICK


def beside(server, tokens, rate, seconds):
    """Validations without, and then with, those of RadosGW beside them.

    :param tokens: what :func:`bench.client.rescoped_tokens` gave
    :param rate: S3 requests per second
    :returns: the result of :meth:`bench.load.Answers.measure` for the latter,
        ``alone`` for the former, and ``s3``, the rate that was reached
    """
    caller, *subjects = tokens
    requests = load.validations(subjects, caller)
    count = math.ceil(rate * seconds)
    others = server.asked(count)
    of_each = len(others) / count
    url = server.side.url

    def validate():
        answers = load.during(url, requests, seconds, VALIDATING)
        return answers.measure(_PERCENTS)

    alone = validate()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        # A little longer, so that it is there to the end.
        asking = pool.submit(
            load.during, url, others, seconds + 1, MANY, of_each * rate
        )
        results = validate()
        s3 = asking.result().rate / of_each
    return {**results, 'alone': alone, 's3': s3}


def points(results):
    """Summarize the rounds.

    :param results: a :class:`bench.runs.Runs` by kind and cache
    :returns: the result of :meth:`bench.runs.Runs.points`, with the medians of
        ``p95`` and, but for validations, ``cpu``; for validations ``s3``, and
        ``of_alone``, the share that is left
    """
    points = results.points(medians=('p95', 'cpu', 's3'))
    for point in points:
        for side in summary.sides(point):
            done = point[side]['runs']
            if 'alone' in done[0]:
                shares = summary.side(done, [run['alone'] for run in done])
                point[side]['of_alone'] = shares['of_own_0']
    return points


#: The points as a table.
text = table.of_sides(
    ('load', 'kind'), 'cache', table.SIDE, table.RATE, *table.RATIO,
    *table.times('{:.1f}', ('p50', 'p95', 'p99')),
    ('CPU ms', 'cpu', '{:.1f}'), ('S3/s', 's3', table.rate),
    ('of alone', 'of_alone', table.percent),
    table.RUNS,
)  # fmt: skip
