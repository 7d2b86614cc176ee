# SPDX-License-Identifier: Apache-2.0

"""Time until all nodes reject a token that one node has revoked.

The result is the start time of the first rejected request at the last node,
from the response to the revocation on.
"""

import http.client
import statistics
import time

from bench import client
from bench import table
from patchset import progress
from patchset.cluster import cluster
from patchset.cluster import layout

TITLE = 'Time until every node rejects a revoked token'
CASES = {
    'shared': ('shared', {}),
    'ring': ('ring', {}),
    'per-node': ('per-node', {}),
    'per-node-1s': ('per-node', {'revoke': {'sync_interval': 1}}),
}
DATABASES = {'small': ('galera',), 'full': ('galera',)}
DELAYS = {'small': (0, 100), 'full': (0, 100, 300)}  # milliseconds
TOKENS = {'small': 12, 'full': 60}
CONCURRENT = 12
NODES = 3
LIMIT = 30  # maximum seconds to wait for a rejection
_INTERVAL = 0.1  # seconds between two requests to a node
_VALIDATIONS = 2  # of a token at each node before its revocation


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    measured = {}
    for case in plan.cases or CASES:
        for side in sides_of(case):
            progress.step(f'{case}, {side}')
            for delay, tokens in _measure_side(plan, case, side):
                measured[case, delay, side] = tokens
                maximum = _seconds(_summarize(tokens)['most'])
                progress.step(
                    f'{case}, {delay} ms, {side}: at most {maximum} s'
                )
    return points(measured)


def sides_of(case):
    """The sides of a case: stock has no ``sync_interval``."""
    return ('patched',) if CASES[case][1] else ('stock', 'patched')


def _measure_side(plan, case, side):
    """For each delay, what :func:`measure` returns."""
    cache, options = CASES[case]
    arrangement = layout.Layout(
        nodes=NODES,
        regions=NODES,
        database=plan.database,
        cache=cache,
        kind=side,
    )
    with cluster.Cluster(plan.pin, arrangement, options=options) as running:
        for delay in plan.delays or DELAYS[plan.scale]:
            running.set_delay(delay)
            yield delay, measure(running, TOKENS[plan.scale])


def measure(running, count):
    """Revoke tokens, several of them concurrently.

    :param running: a :class:`patchset.cluster.cluster.Cluster`
    :param count: number of tokens
    :returns: for each token, the seconds from the response to its revocation
        until the last node rejected it, or None if that took longer than
        :data:`LIMIT`; and the duration of the revocation in seconds
    """
    nodes = running.clients
    login = running.login
    caller = nodes[0].issue(*login)

    def measure_token(_):
        # Only this node revokes: a revocation flushes stock's cached tokens.
        first, *others = nodes
        token = first.issue(*login)
        for _ in range(_VALIDATIONS):
            for node in nodes:
                node.validate(caller, token)
        start = time.monotonic()
        if first.revoke(caller, token) != http.client.NO_CONTENT:
            raise RuntimeError(f'{first.name} did not revoke')
        revoked = time.monotonic()
        delay = rejection_delay(others, caller, token, revoked)
        return delay, revoked - start

    return client.map_concurrently(measure_token, range(count), CONCURRENT)


def rejection_delay(nodes, caller, token, revoked):
    """Validate a token at all nodes concurrently, until each rejects it.

    :param revoked: time of the revocation, in seconds of the monotonic clock
    :returns: seconds until the start of the first rejected request at the last
        node, 0 if each node rejected its first request; None if a node did
        not reject the token within :data:`LIMIT`
    """

    def wait_for_rejection(node):
        accepted = False
        while (start := time.monotonic()) < revoked + LIMIT:
            status = node.validate(caller, token)
            if status == http.client.NOT_FOUND:
                return start - revoked if accepted else 0.0
            accepted |= status == http.client.OK
            time.sleep(_INTERVAL)
        return None

    delays = client.map_concurrently(wait_for_rejection, nodes, len(nodes))
    return None if None in delays else max(delays)


def points(measured):
    """Summarize the results of the tokens.

    :param measured: {(case, delay, side): what :func:`measure` returns}
    :returns: list of dicts, one per case and delay: ``case``, ``delay``, and
        for each side ``median`` and ``most`` (in seconds; None is longer than
        :data:`LIMIT`), ``tokens``, ``late`` (the seconds of each token) and
        ``revoking`` (median duration of a revocation in seconds)
    """
    points = []
    for case, delay in dict.fromkeys(key[:2] for key in measured):
        sides = {
            side: _summarize(measured[case, delay, side])
            for side in sides_of(case)
        }
        points.append({'case': case, 'delay': delay, **sides})
    return points


def _summarize(tokens):
    delays = sorted(LIMIT if delay is None else delay for delay, _ in tokens)
    durations = [duration for _, duration in tokens]

    def limited(delay):
        return None if delay >= LIMIT else round(delay, 3)

    return {
        'median': limited(statistics.median(delays)),
        'most': limited(delays[-1]),
        'tokens': len(delays),
        'late': [limited(delay) for delay in delays],
        'revoking': round(statistics.median(durations), 3),
    }


text = table.of_sides(
    ('cache', 'case'), ('ms', 'delay'), table.SIDE,
    ('median s', lambda point, side: _seconds(point[side]['median'])),
    ('maximum s', lambda point, side: _seconds(point[side]['most'])),
    ('DELETE s', 'revoking', '{:.2f}'), ('tokens', 'tokens', '{}'),
)  # fmt: skip


def _seconds(value):
    return f'over {LIMIT}' if value is None else f'{value:.2f}'
