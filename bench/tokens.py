# SPDX-License-Identifier: Apache-2.0

"""Creating and validating tokens, with memcached and without a cache.

The requests are those of the comparison of Liberty and Mitaka of 2016: 200
tokens are created sequentially, followed by 200 sequential validations, then
1,000 tokens are created and 500 validations made, 20 concurrently. Tokens are
issued for a password; the validated token was issued immediately before.

Four Keystones run: stock and patched, with ``[cache] enabled`` set to true and
false. They take turns and change their order from run to run. The counters of
memcached are divided by the number of requests. The small scale has two runs
with a quarter of the creations, and four with all the validations, because the
first validations of each token are slow, and the patched side completes them
in a fraction of a second. Without a cache, stock takes half a second for a
validation, so a run has a tenth of the requests there, and the small scale has
one run with a fortieth.
"""

import dataclasses
import statistics

from bench import client
from bench import load
from bench import rig
from bench import summary
from bench import table
from patchset import progress

TITLE = 'Cost of a token, with memcached and without a cache'

CACHES = {'memcached': {}, 'none': {'cache': {'enabled': False}}}
# What is asked, how many clients ask at once, and how often all together.
LOADS = (
    ('create', 1, 200),
    ('validate', 1, 200),
    ('create', 20, 1000),
    ('validate', 20, 500),
)
RUNS = {
    'small': {'create': 2, 'validate': 4},
    'full': {'create': 20, 'validate': 20},
}
# What part of the requests is sent where there is no cache.
UNCACHED = {'small': 40, 'full': 10}
TRAFFIC = ('gets', 'sets', 'bytes')  # of memcached, for each request


def footprint(scale):
    """How many tokens a run issues at an existing Keystone, and revokes."""
    issued = 0
    for what, clients, requests in LOADS:
        count = 1  # which validates itself
        if what == 'create':
            count = amount(scale, 'as it is', what, clients, requests)
        issued += repeats(scale, 'as it is', what) * count
    return issued, 0


def run(plan):
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: what :func:`points` gives
    """
    measured = {}
    with rig.each(plan, CACHES) as rigs:
        for number in range(max(RUNS[plan.scale].values())):
            for what, clients, requests in LOADS:
                for cache, sides in rigs.items():
                    runs = repeats(plan.scale, cache, what)
                    if number >= runs:
                        continue
                    count = amount(plan.scale, cache, what, clients, requests)
                    for side in rig.turn(sides, number):
                        one = measure(side, what, clients, count)
                        about = side.name, cache, what, clients
                        measured.setdefault(about, []).append(one)
                        progress.step(
                            f'{number + 1} of {runs}: {what}, {clients} at '
                            f'once, cache {cache}, {side.name}: '
                            f'{table.rate(one["rate"])}/s'
                        )
    return points(measured)


def repeats(scale, cache, what):
    """How many runs there are.

    :param what: ``create`` or ``validate``
    """
    return 1 if (scale, cache) == ('small', 'none') else RUNS[scale][what]


def amount(scale, cache, what, clients, requests):
    """How many requests there are in one run.

    :param requests: how many there are at full scale with memcached
    """
    if cache == 'none':
        requests //= UNCACHED[scale]
    elif (scale, what) == ('small', 'create'):
        requests //= 4
    return max(requests, clients)


def measure(side, what, clients, requests):
    """Send a number of requests.

    :param what: ``create`` or ``validate``
    :param clients: how many of them are under way at once
    :returns: dict with the fields of :class:`bench.load.Measure`, and for
        each request the keys that were read from memcached (``gets``), the
        values written (``sets``), and the ``bytes`` both ways, if the side
        has a memcached that can be asked
    """
    headers, body = {}, None
    if what == 'create':
        body = client.login(side.keystone)
    else:
        headers = client.headers(client.token(side.keystone))
    before = side.cache.stats() if side.cache else None
    one = load.number(side.url, headers, requests, clients, body)
    spent = {}
    if before:
        spent = traffic(before, side.cache.stats(), one.requests)
    return {**dataclasses.asdict(one), **spent}


def traffic(before, after, requests):
    """What memcached was asked for each request.

    :param before: its counters before the requests
    :param after: its counters after them
    :returns: dict with ``gets``, ``hits`` (of them), ``sets`` and ``bytes``
    """

    def grown(*names):
        more = sum(int(after[name]) - int(before[name]) for name in names)
        return more / requests

    return {
        'gets': grown('cmd_get'),
        'hits': grown('get_hits'),
        'sets': grown('cmd_set'),
        'bytes': grown('bytes_read', 'bytes_written'),
    }


def points(measured):
    """Sum up the runs.

    :param measured: {(side, cache, what, clients): list of what
        :func:`measure` gave}
    :returns: list of dicts, one per cache and load: ``cache``, ``what``,
        ``clients``, what :func:`bench.summary.compared` gives, and for each
        side the medians of :data:`TRAFFIC`
    """
    found = []
    names = summary.sides({about[0] for about in measured})
    for cache in dict.fromkeys(about[1] for about in measured):
        for what, clients, _ in LOADS:
            runs = {
                side: measured[side, cache, what, clients] for side in names
            }
            point = {'cache': cache, 'what': what, 'clients': clients}
            point.update(summary.compared(runs))
            for side, of_side in runs.items():
                for name in TRAFFIC:
                    values = [one.get(name) for one in of_side]
                    point[side][name] = _median(values)
            found.append(point)
    return found


def _median(values):
    return None if None in values else round(statistics.median(values), 2)


def text(found):
    """The points as a table."""
    head = [
        'cache', 'request', 'at once', 'side', '1/s', 'by stock', 'spread',
        'p50 ms', 'p99 ms', 'gets', 'sets', 'KiB', 'runs',
    ]  # fmt: skip

    def cells(point, side, one):
        return [
            point['cache'], point['what'], point['clients'], side,
            table.rate(one['rate']),
            *table.by_stock(point, side),
            f'{one["p50"]:.0f}', f'{one["p99"]:.0f}',
            *_traffic(one), one['repeats'],
        ]  # fmt: skip

    return table.of_sides(head, found, cells)


def _traffic(one):
    """The cells about memcached."""
    if one['gets'] is None:
        return ['-'] * len(TRAFFIC)
    numbers = one['gets'], one['sets'], one['bytes'] / 1024
    return [f'{number:.1f}' for number in numbers]
