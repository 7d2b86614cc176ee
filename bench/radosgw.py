# SPDX-License-Identifier: Apache-2.0

"""S3 requests through a RadosGW that authenticates them with Keystone.

Four clients send small requests, signed with 64 access keys of four users in
turns: ``get`` and ``put`` of 1 KiB, ``list`` of a bucket of ten objects. With
its cache ``off``, RadosGW sends two requests to Keystone for each, and issues
a token for its own password before each of the two. With ``one`` entry, it
keeps that token and sends the two only, as the keys change. With the cache
``on``, it sends requests for each key every few minutes.

``first``: 64 concurrent clients, each with a new key, after Keystone's
processes and cache have been restarted. ``validations``: two clients validate
50 tokens in turns, while the four get objects as fast as possible.

Passwords are hashed with 12 bcrypt rounds, the default of Keystone, and
patched Keystone caches successful checks for a minute. ``hashed``: objects are
read with the cache ``off`` and without caching of these checks, the default.

Sides alternate from round to round, and each is compared with stock in the
same round. The CPU time of Keystone's processes is divided by the number of S3
requests.
"""

import concurrent.futures
import dataclasses

from bench import client
from bench import gateways
from bench import processor
from bench import rig
from bench import summary
from bench import table
from bench import turns
from patchset import environment
from patchset import pins
from patchset import progress
from patchset import system

TITLE = 'Cost of an S3 request through RadosGW'
PACKAGES = 'radosgw'  # profile of bindep.txt, which nothing else needs
KINDS = ('get', 'put', 'list')
FIRST, VALIDATIONS, HASHED = 'first', 'validations', 'hashed'
CACHES = {'off': 0, 'one': 1, 'on': 10_000}  # entries; the last is usual
SECONDS = {'small': 5, 'full': 10}  # four clients wait a second each
REPEATS = {'small': 2, 'full': 6}
FIRSTS = {'small': 1, 'full': 3}  # rounds of new clients
CLIENTS, MANY, VALIDATING = 4, 64, 2
TOKENS = 50
_SIGNED = 500  # requests of each kind, which take turns
_REMEMBERED = 60  # seconds
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
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: what :func:`points` gives
    :raises patchset.errors.NotInstalled: Ceph's packages are missing
    """
    system.ensure(PACKAGES)
    venv = environment.Environment(pins.newest(), 'bench').ensure()
    found = {}
    with (
        rig.both(plan, _OPTIONS[_REMEMBERED]) as sides,
        gateways.started(sides, CACHES, venv) as servers,
    ):
        progress.step(f'{MANY} access keys for each RadosGW')
        rig.at_once(lambda side: _prepare(side, servers), sides)
        tokens = {
            side.name: client.exchanged(side.keystone, TOKENS)
            for side in sides
        }
        for number in range(REPEATS[plan.scale]):
            for about, one in _round(plan, number, sides, servers, tokens):
                found.setdefault(about, []).append(one)
        _restart(sides, 0)
        for number in range(REPEATS[plan.scale]):
            for about, one in _hashed(plan, number, sides, servers):
                found.setdefault(about, []).append(one)
        _restart(sides, _REMEMBERED)
        for number in range(FIRSTS[plan.scale]):
            for about, one in _firsts(number, sides, servers):
                found.setdefault(about, []).append(one)
    return points(found)


def _prepare(side, servers):
    for cache in CACHES:
        servers[side.name, cache].prepare(KINDS, MANY, _SIGNED)


def _round(plan, number, sides, servers, tokens):
    """Each side's slices of a round: (side, kind, cache), what was found."""
    seconds = SECONDS[plan.scale]
    for cache in CACHES:
        for kind in (*KINDS, VALIDATIONS):
            for side in rig.turn(sides, number):
                server = servers[side.name, cache]
                if kind == VALIDATIONS:
                    one = beside(server, tokens[side.name], seconds)
                else:
                    one = measure(server, kind, seconds)
                _tell(number, kind, cache, side, one)
                yield (side.name, kind, cache), one


def _hashed(plan, number, sides, servers):
    for side in rig.turn(sides, number):
        server = servers[side.name, 'off']
        one = measure(server, 'get', SECONDS[plan.scale])
        _tell(number, HASHED, 'off', side, one)
        yield (side.name, HASHED, 'off'), one


def _restart(sides, remembered):
    """Start both anew, to remember right passwords for so many seconds."""
    for side in sides:
        side.keystone.restart(_OPTIONS[remembered])


def _firsts(number, sides, servers):
    for cache in ('off', 'on'):
        for side in rig.turn(sides, number):
            one = first(servers[side.name, cache])
            _tell(number, FIRST, cache, side, one)
            yield (side.name, FIRST, cache), one


def _tell(number, kind, cache, side, one):
    progress.step(
        f'{number + 1}: {kind}, cache {cache}, {side.name}: '
        f'{table.rate(one["rate"])}/s, p95 {one["p95"]:.0f} ms'
    )


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
    server.side.forget()
    return _counted(server, lambda: turns.once([server.url], requests, MANY))


def _counted(server, load):
    """Put a load on, and count what Keystone needs for it.

    :returns: dict with the fields of :class:`bench.load.Measure`, ``p95``,
        and ``cpu``, milliseconds of the processors for each request
    """
    keystone = server.side.keystone
    before = processor.of_workers(keystone)
    answers = load()
    used = processor.of_workers(keystone) - before
    return {
        **_summed(answers),
        'cpu': round(1000 * used / answers.requests, 2),
    }


def _summed(answers):
    measure = dataclasses.asdict(answers.measure())
    return {**measure, 'p95': answers.percentile(95)}


def beside(server, tokens, seconds):
    """Validations without, and then with, requests of S3 beside them.

    :param tokens: what :func:`bench.client.exchanged` gave
    :returns: dict with the fields of :class:`bench.load.Measure` and ``p95``
        of the latter, and as ``alone`` the fields of the former
    """
    caller, *subjects = tokens
    requests = [(caller, subject, '') for subject in subjects]

    def validate():
        return turns.during(server.side.url, requests, seconds, VALIDATING)

    alone = _summed(validate())
    with concurrent.futures.ThreadPoolExecutor() as pool:
        # A little longer, so that it is there to the end.
        load = pool.submit(server.load, 'get', seconds + 1, CLIENTS)
        found = _summed(validate())
        s3 = load.result().rate
    return {**found, 'alone': alone, 's3': s3}


def points(measured):
    """Sum up the rounds.

    :param measured: {(side, kind, cache): list of what was found}
    :returns: list of dicts, one for each kind and cache: ``kind``, ``cache``,
        and what :func:`bench.summary.compared` gives, with the medians of
        ``p95`` and, but for validations, ``cpu``; for validations
        ``of_alone``, the share that is left
    """
    found = []
    for kind, cache in dict.fromkeys(about[1:] for about in measured):
        runs = {
            side: measured[side, kind, cache] for side in ('stock', 'patched')
        }
        point = {'kind': kind, 'cache': cache, **summary.compared(runs)}
        for side, done in runs.items():
            point[side].update(_more(done))
        found.append(point)
    return found


def _more(done):
    weights = [summary.weight(run) for run in done]
    names = [name for name in ('p95', 'cpu') if name in done[0]]
    more = {
        name: summary.median([run[name] for run in done], weights)
        for name in names
    }
    if 'alone' in done[0]:
        shares = summary.of(done, [run['alone'] for run in done])
        more['of_alone'] = shares['of_own_0']
    return more


def text(found):
    """The points as a table."""
    head = [
        'load', 'cache', 'side', '1/s', 'by stock', 'spread', 'p50 ms',
        'p95 ms', 'p99 ms', 'CPU ms', 'left', 'runs',
    ]  # fmt: skip

    def cells(point, side, one):
        return [
            point['kind'], point['cache'], side, table.rate(one['rate']),
            *table.by_stock(point, side),
            *(f'{one[name]:.1f}' for name in ('p50', 'p95', 'p99')),
            f'{one["cpu"]:.1f}' if 'cpu' in one else '-',
            table.percent(one.get('of_alone')), one['repeats'],
        ]  # fmt: skip

    return table.of_sides(head, found, cells)
