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
PACKAGES = 'radosgw'  # profile of bindep.txt
KINDS = ('get', 'put', 'list')
FIRST, VALIDATIONS, HASHED = 'first', 'validations', 'hashed'
CACHES = {'off': 0, 'one': 1, 'on': 10_000}  # entries; default: 10,000
_UNCACHED = ('off', 'one')  # each S3 request causes requests to Keystone
SECONDS = {'small': 5, 'full': 10}
REPEATS = {'small': 2, 'full': 6}
FIRST_ROUNDS = {'small': 1, 'full': 3}  # of new clients
CLIENTS, NEW_CLIENTS, VALIDATING_CLIENTS = 4, 64, 2
TOKENS = 50
_SIGNED_REQUESTS = 500  # requests of each kind
_PERCENTS = (50, 95, 99)
_CACHE_TIME = 60  # seconds, of verified passwords
_TICK = 1 / os.sysconf('SC_CLK_TCK')  # seconds
# Stock ignores the option that it does not have.
_OPTIONS = {
    seconds: {
        'identity': {
            'password_hash_rounds': 12,
            'password_check_cache_time': seconds,
        }
    }
    for seconds in (0, _CACHE_TIME)
}


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    system.ensure(PACKAGES)
    venv = environment.Environment(pins.newest(), 'bench').ensure()
    results = runs.Runs('kind', 'cache')
    with (
        testbed.both(plan, _OPTIONS[_CACHE_TIME]) as sides,
        gateways.started(sides, CACHES, venv) as servers,
    ):
        progress.step(f'{NEW_CLIENTS} access keys for each RadosGW')
        testbed.for_each_side(lambda side: _prepare(side, servers), sides)
        tokens = {
            side: client.rescoped_tokens(side.keystone, TOKENS)
            for side in sides
        }
        seconds, repeats = SECONDS[plan.scale], REPEATS[plan.scale]
        loads = [
            *((kind, cache) for cache in CACHES for kind in KINDS),
            *((VALIDATIONS, cache) for cache in _UNCACHED),
        ]
        for (kind, cache), side in testbed.rounds(sides, repeats, loads):
            server = servers[side, cache]
            call = measure, server, server.load, kind, seconds, CLIENTS
            if kind == VALIDATIONS:
                rate = results.measured['get', cache]['stock'][-1]['rate']
                call = validate, server, tokens[side], rate, seconds
            results.measure(side, (kind, cache), *call)
        _restart(sides, 0)
        for kind, side in testbed.rounds(sides, repeats, (HASHED,)):
            server = servers[side, 'off']
            results.measure(
                side, (kind, 'off'), measure, server, server.load, 'get',
                seconds, CLIENTS,
            )  # fmt: skip
        _restart(sides, _CACHE_TIME)
        for cache, side in testbed.rounds(
            sides, FIRST_ROUNDS[plan.scale], ('off', 'on')
        ):
            results.measure(side, (FIRST, cache), first, servers[side, cache])
    return points(results)


def _prepare(side, servers):
    for cache in CACHES:
        servers[side, cache].prepare(KINDS, NEW_CLIENTS, _SIGNED_REQUESTS)


def _restart(sides, cache_time):
    """Restart both sides with a time for which passwords are cached."""
    for side in sides:
        side.keystone.restart(_OPTIONS[cache_time])


def first(server):
    """Measure new clients, all concurrently; see :func:`measure`."""
    # Before the restart, which clears what Keystone has cached of the keys.
    keys = server.create_keys(NEW_CLIENTS)
    requests = server.sign(['get'], keys, 2 * NEW_CLIENTS)['get']
    server.side.keystone.restart()
    server.side.flush_cache()
    return measure(server, load.once, [server.url], requests, NEW_CLIENTS)


def measure(server, send, *arguments):
    """Send a load, and measure the CPU time of Keystone.

    :param server: a :class:`bench.gateways.Gateway`
    :param send: function that returns :class:`bench.load.Answers`
    :returns: the result of :meth:`bench.load.Answers.measure`, and
        ``cpu``, milliseconds of CPU time per request
    """
    keystone = server.side.keystone
    before = worker_cpu_seconds(keystone)
    answers = send(*arguments)
    seconds = worker_cpu_seconds(keystone) - before
    cpu = 1000 * seconds / answers.requests
    return {**answers.measure(_PERCENTS), 'cpu': round(cpu, 2)}


def worker_cpu_seconds(keystone) -> float:
    """CPU time used by the running worker processes, in seconds.

    :param keystone: a :class:`patchset.deployment.Deployment`, running
    """
    return sum(
        cpu_seconds(pathlib.Path(f'/proc/{pid}/stat').read_text())
        for pid in child.children(keystone.pid)
    )


def cpu_seconds(text: str) -> float:
    """User and system CPU time of a process, in seconds.

    :param text: content of its ``stat``, see proc_pid_stat(5)
    """
    # The second field, the name of the program, can contain any characters.
    fields = text.rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) * _TICK


def validate(server, tokens, rate, seconds):
    """Validate tokens without, and then with the requests of RadosGW.

    :param tokens: the result of :func:`bench.client.rescoped_tokens`
    :param rate: S3 requests per second
    :returns: the result of :meth:`bench.load.Answers.measure` for the latter,
        ``alone`` for the former, and ``s3``, the rate that was reached
    """
    caller, *subjects = tokens
    requests = load.validations(subjects, caller)
    count = math.ceil(rate * seconds)
    radosgw_requests = server.keystone_requests(count)
    per_s3_request = len(radosgw_requests) / count
    url = server.side.url

    def measure_validations():
        answers = load.during(url, requests, seconds, VALIDATING_CLIENTS)
        return answers.measure(_PERCENTS)

    alone = measure_validations()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        # Longer than the validations, so that they never run alone.
        future = pool.submit(
            load.during, url, radosgw_requests, seconds + 1, NEW_CLIENTS,
            per_s3_request * rate,
        )  # fmt: skip
        run = measure_validations()
        s3 = future.result().rate / per_s3_request
    return {**run, 'alone': alone, 's3': s3}


def points(results):
    """Summarize the rounds.

    :param results: a :class:`bench.runs.Runs` by kind and cache
    :returns: the result of :meth:`bench.runs.Runs.points`, with the medians of
        ``p95`` and ``cpu``; for validations instead of ``cpu`` with ``s3``,
        and ``of_alone``, the rate divided by that without other requests
    """
    points = results.points(medians=('p95', 'cpu', 's3'))
    for point in points:
        for side in summary.sides(point):
            runs = point[side]['runs']
            if 'alone' in runs[0]:
                alone = summary.side(runs, [run['alone'] for run in runs])
                point[side]['of_alone'] = alone['of_own_0']
    return points


text = table.of_sides(
    ('load', 'kind'), 'cache', table.SIDE, table.RATE, *table.RATIO,
    *table.times('{:.1f}', ('p50', 'p95', 'p99')),
    ('CPU ms', 'cpu', '{:.1f}'), ('S3/s', 's3', table.rate),
    ('of alone', 'of_alone', table.percent),
    table.RUNS,
)  # fmt: skip
