# SPDX-License-Identifier: Apache-2.0

"""Validations per second against the number of live revocation events.

The purpose is to show whether the rate of a side depends on the number of
events, within a few percent. The speed of a machine varies more than that
during a run, so each rate is compared with the one without events in the same
round, measured seconds before by the same processes.

If one request of each client takes longer than a time slice, a side is
measured with these requests only, and in one round only. The latter also
applies if the first requests take very long: a result far from 100 % does not
have to be accurate to a percent.
"""

import collections
import statistics

from bench import client
from bench import events
from bench import load
from bench import runs
from bench import table
from bench import testbed
from patchset import errors
from patchset import progress

TITLE = 'Effect of the number of live revocation events'
COUNTS = {'small': (0, 100, 10_000), 'full': (0, 1000, 10_000, 100_000)}
CLOUD_COUNTS = (0, 100, 1000)  # tokens revoked on an existing Keystone
KINDS = {'small': ('chain',), 'full': tuple(events.COLUMNS)}
SECONDS = 2  # of a slice
SLICES = {'small': 2, 'full': 3}  # of each number of events in a round
REPEATS = {'small': 2, 'full': 5}
CLIENTS = 20
MAX_THROUGH_API = 1000  # events of each kind
_WARM = 2  # requests of each client
_SLOW = 10  # seconds for the first requests, after which one round suffices


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    if plan.against:
        return run_on_cloud(plan)
    kinds = plan.kinds or KINDS[plan.scale]
    counts, repeats = COUNTS[plan.scale], REPEATS[plan.scale]
    results = runs.Runs('kind', 'events')
    saved = max(count for count in counts if count <= MAX_THROUGH_API)
    with testbed.both(plan) as sides:
        testbed.for_each_side(
            lambda side: cause_events(side, kinds, saved), sides
        )
        for number in range(repeats):
            for kind in kinds:
                progress.step(f'round {number + 1} of {repeats}: {kind}')
                _round(sides, kind, counts, saved, plan, results)
    return points(results)


def cause_events(side, kinds, count):
    """Cause events of the kinds through the API, and save them.

    :param count: number of events of each kind
    :raises patchset.errors.Error: Keystone has written fewer
    """
    for caused_kinds, cause in events.CAUSES.items():
        selected = [kind for kind in caused_kinds if kind in kinds]
        if not selected:
            continue
        progress.step(
            f'{side.name}: {count} events through the API: '
            f'{", ".join(selected)}'
        )
        events.empty(side)
        side.flush_cache()
        cause(side.keystone, count)
        for kind in selected:
            saved = events.save(side, kind)
            if saved < count:
                raise errors.Error(
                    f'{side.name}: the API wrote {saved} events of kind '
                    f'{kind}, not {count}'
                )


def run_on_cloud(plan):
    """Run the experiment on an existing Keystone, through its API.

    Its events remain, so that the measurements for each number of revoked
    tokens are consecutive. Revoking a token writes one or two events.
    """
    results, revoked = runs.Runs('kind', 'events'), 0
    with testbed.sides(plan) as (side,):
        for count in CLOUD_COUNTS:
            events.revoke_tokens(side.keystone, count - revoked)
            revoked = count
            for _ in range(REPEATS[plan.scale]):
                results.measure(side, ('token', count), measure, side, plan)
    return points(results)


def footprint(scale):
    """Numbers of tokens issued and revoked on an existing Keystone."""
    revoked = CLOUD_COUNTS[-1]
    return revoked + len(CLOUD_COUNTS) * REPEATS[scale], revoked


def points(results):
    """The result of :meth:`bench.runs.Runs.points`, relative to no events."""
    return results.points(
        references=lambda values: results.measured[values[0], 0], ratio=False
    )


def _round(sides, kind, counts, saved, plan, results):
    if not any(kind in kinds for kinds in events.CAUSES):
        saved = 0
    for side in sides:
        events.empty(side)
        # Otherwise, Keystone waits for an announced row that is deleted.
        side.flush_cache()
        if side.name == 'patched':
            side.keystone.restart()
        requests = load.validations([client.token(side.keystone)])
        load.during(side.url, requests, SECONDS, CLIENTS)
    added = dict.fromkeys(sides, 0)
    for count in counts:
        for side in sides * SLICES[plan.scale]:
            previous = results.measured.get((kind, count), {}).get(side.name)
            if count and previous and previous[0].get('slow'):
                previous.append(None)
                continue
            if count > added[side]:
                events.add(
                    side, kind, added[side] + 1, count, counts[-1], saved
                )
                added[side] = count
            results.measure(side, (kind, count), measure, side, plan)


def measure(side, plan):
    """Validate one token for a time slice, after a warm-up.

    :returns: the result of :meth:`bench.load.Answers.measure`, and ``slow`` if
        one round has to suffice, see the module
    """
    requests = load.validations([client.token(side.keystone)])
    of_each_client = requests * CLIENTS
    side.flush_cache()
    # A process responds to no client before it has read the events. While one
    # reads, the others serve the remaining clients.
    answers = load.exactly(side.url, of_each_client, CLIENTS)
    # Stock reads them for each check, unless that is cached.
    slow = side.name == 'stock' and CLIENTS / answers.rate > _SLOW
    if plan.caching or not slow:
        answers = load.exactly(side.url, of_each_client, CLIENTS)
    if CLIENTS / answers.rate > SECONDS:
        slow = True
    else:
        load.exactly(side.url, of_each_client * _WARM, CLIENTS)
        answers = load.during(side.url, requests, SECONDS, CLIENTS)
        # Wait until the server has finished the requests in progress.
        load.exactly(side.url, of_each_client, CLIENTS)
    return {**answers.measure(), **({'slow': True} if slow else {})}


def text(points):
    """The points as a table."""
    lines = [_table(points)]
    shares = of_own_0(points)
    if shares:
        lines += ['', 'patched, all kinds and rounds together:', shares]
    return '\n'.join(lines)


_table = table.of_sides(
    'kind', 'events', table.SIDE, table.RATE,
    ('of own 0', 'of_own_0', table.percent),
    ('spread', 'of_own_0_spread', table.percents),
    *table.times(), table.RUNS,
)  # fmt: skip


def of_own_0(points):
    """The patched rate relative to that without events, over all kinds.

    The patched side does the same work for each kind, so that the rounds can
    be combined to a more accurate result.

    :returns: a table: median and quartiles for each number of events; empty
        with fewer than four rounds
    """
    own = {
        point['kind']: point['patched']['runs']
        for point in points
        if point['events'] == 0 and 'patched' in point
    }
    shares = collections.defaultdict(list)
    for point in points if own else ():
        pairs = zip(point['patched']['runs'], own[point['kind']], strict=True)
        shares[point['events']] += [
            run['rate'] / reference['rate'] for run, reference in pairs
        ]
    rows = []
    for count, values in shares.items():
        if count and len(values) >= 4:
            low, median, high = statistics.quantiles(values, n=4)
            quartiles = table.percents((low, high))
            rows.append([count, table.percent(median), len(values), quartiles])
    head = ['events', 'of own 0', 'runs', 'quartiles']
    return table.render(head, rows) if rows else ''
