# SPDX-License-Identifier: Apache-2.0

"""Validations per second against the number of live revocation events.

The purpose is to show whether a side keeps its rate at 0 events, within a few
percent. A machine drifts by more than that during a run, so each rate is
compared with the one at 0 events in the same round, measured seconds before by
the same processes.

If a side takes longer than a slice for one request of each client, it is
measured by these requests only, and in one round only, as it is if the first
requests take very long: a result far from 100 % does not have to be accurate
to a percent.
"""

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
CLOUD_COUNTS = (0, 100, 1000)  # tokens revoked at an existing Keystone
KINDS = {'small': ('chain',), 'full': tuple(events.COLUMNS)}
SECONDS = 2  # of a slice
SLICES = {'small': 2, 'full': 3}  # of each number of events in a round
REPEATS = {'small': 2, 'full': 5}
CLIENTS = 20
THROUGH_API = 1000  # events of each kind, at most
_WARM = 2  # requests of each client
_SLOW = 10  # seconds for the first requests after which once is enough


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    if plan.against:
        return on_cloud(plan)
    kinds = plan.kinds or KINDS[plan.scale]
    counts, repeats = COUNTS[plan.scale], REPEATS[plan.scale]
    results = runs.Runs('kind', 'events')
    kept = max(count for count in counts if count <= THROUGH_API)
    with testbed.both(plan) as sides:
        testbed.for_each_side(
            lambda side: through_api(side, kinds, kept), sides
        )
        for number in range(repeats):
            for kind in kinds:
                progress.step(f'round {number + 1} of {repeats}: {kind}')
                _round(sides, kind, counts, kept, plan, results)
    return points(results)


def through_api(side, kinds, count):
    """Have Keystone write events of the kinds, and keep them aside.

    :param count: how many of each kind
    :raises patchset.errors.Error: it has written fewer
    """
    for made, make in events.MAKERS.items():
        of_it = [kind for kind in made if kind in kinds]
        if not of_it:
            continue
        progress.step(
            f'{side.name}: {count} events through the API: {", ".join(of_it)}'
        )
        events.empty(side)
        side.flush_cache()
        make(side.keystone, count)
        for kind in of_it:
            results = events.keep(side, kind)
            if results < count:
                raise errors.Error(
                    f'{side.name}: the API wrote {results} events of kind '
                    f'{kind}, not {count}'
                )


def on_cloud(plan):
    """Run the experiment at an existing Keystone, through its API alone.

    Its events stay: each number of revoked tokens is reached once, and
    measured several times. Revoking a token writes one or two events.
    """
    results, done = runs.Runs('kind', 'events'), 0
    with testbed.sides(plan) as (side,):
        for count in CLOUD_COUNTS:
            events.revoked_tokens(side.keystone, count - done)
            done = count
            for _ in range(REPEATS[plan.scale]):
                results.measure(side, ('token', count), measure, side, plan)
    return points(results)


def footprint(scale):
    """How many tokens a run issues at an existing Keystone, and revokes."""
    revoked = CLOUD_COUNTS[-1]
    return revoked + len(CLOUD_COUNTS) * REPEATS[scale], revoked


def points(results):
    """The result of :meth:`bench.runs.Runs.points`, against no events."""
    return results.points(
        references=lambda values: results.measured[values[0], 0], ratio=False
    )


def _round(sides, kind, counts, kept, plan, results):
    if not any(kind in made for made in events.MAKERS):
        kept = 0
    for side in sides:
        events.empty(side)
        # Do not wait for an announced row that is deleted.
        side.flush_cache()
        if side.name == 'patched':
            side.keystone.restart()
        requests = load.validations([client.token(side.keystone)])
        load.during(side.url, requests, SECONDS, CLIENTS)
    filled = dict.fromkeys(sides, 0)
    for count in counts:
        for side in sides * SLICES[plan.scale]:
            done = results.measured.get((kind, count), {}).get(side.name)
            if count and done and done[0].get('slow'):
                done.append(None)
                continue
            if count > filled[side]:
                events.add(
                    side, kind, filled[side] + 1, count, counts[-1], kept
                )
                filled[side] = count
            results.measure(side, (kind, count), measure, side, plan)


def measure(side, plan):
    """Validate one token for a slice of time, after a warm-up.

    :returns: the result of :meth:`bench.load.Answers.measure`, and
        ``slow`` if a request of each client took longer than a slice, or
        the first ones so long that one round has to do
    """
    requests = load.validations([client.token(side.keystone)])
    every = requests * CLIENTS
    side.flush_cache()
    # No client is answered before the process it got has read the events,
    # and while one reads, the others get the rest of the clients.
    probe = load.exactly(side.url, every, CLIENTS)
    # Stock reads them for each check, unless that is cached.
    slow = side.name == 'stock' and CLIENTS / probe.rate > _SLOW
    if plan.caching or not slow:
        probe = load.exactly(side.url, every, CLIENTS)
    if CLIENTS / probe.rate > SECONDS:
        slow = True
    else:
        load.exactly(side.url, every * _WARM, CLIENTS)
        probe = load.during(side.url, requests, SECONDS, CLIENTS)
        # What they no longer wait for is not left to the other side.
        load.exactly(side.url, every, CLIENTS)
    return {**probe.measure(), **({'slow': True} if slow else {})}


def text(results):
    """The points as a table."""
    lines = [_table(results)]
    shares = of_own_0(results)
    if shares:
        lines += ['', 'patched, all kinds and rounds together:', shares]
    return '\n'.join(lines)


_table = table.of_sides(
    'kind', 'events', table.SIDE, table.RATE,
    ('of own 0', 'of_own_0', table.percent),
    ('spread', 'of_own_0_spread', table.percents),
    *table.times(), table.RUNS,
)  # fmt: skip


def of_own_0(results):
    """The patched side's share of its rate at 0 events, over all kinds.

    The kinds do the same work there, so their rounds may be taken together,
    which leaves less to chance.

    :returns: a table: median and quartiles for each number of events; empty
        with fewer than four rounds
    """
    own = {
        point['kind']: point['patched']['runs']
        for point in results
        if point['events'] == 0 and 'patched' in point
    }
    shares = {}
    for point in results if own else ():
        shares.setdefault(point['events'], []).extend(
            run['rate'] / reference['rate']
            for run, reference in zip(
                point['patched']['runs'], own[point['kind']], strict=True
            )
        )
    rows = []
    for count, values in shares.items():
        if count and len(values) >= 4:
            low, middle, high = statistics.quantiles(values, n=4)
            rows.append(
                [
                    count, table.percent(middle), len(values),
                    table.spread([100 * low, 100 * high], '{:.1f}'),
                ]
            )  # fmt: skip
    head = ['events', 'of own 0', 'runs', 'quartiles']
    return table.render(head, rows) if rows else ''
