# SPDX-License-Identifier: Apache-2.0

"""Time the revocation tree on this machine.

    python -m keystone.tests.unit.performance.revoke.time_tree

Prints, for each kind of event, microseconds of processor time for a check of
a token that no event revokes, with few and with many live events; events
added in a second; bytes for an event. Nothing is asserted.
"""

import argparse
import gc
import time

from keystone.revoke import tree
from keystone.tests.unit.performance.revoke import measures

_KINDS = {
    'audit': [('audit_id',)],
    'chain': [('audit_chain_id',)],
    'user': [('user_id',)],
    'project': [('project_id',)],
    'domain': [('domain_id',)],
    'trust': [('trust_id',)],
    'user and project': [('user_id', 'project_id')],
    'four kinds': [
        ('audit_id',),
        ('audit_chain_id',),
        ('user_id',),
        ('project_id',),
    ],
}

_TOKENS = 500
_ROUNDS = 40


def _check(events, values):
    start = time.thread_time()
    for each in values:
        events.is_revoked(each)
    return (time.thread_time() - start) / len(values) * 1e6


def _checks(trees, values):
    """The best time for each tree, the trees taking turns."""
    best = [float('inf')] * len(trees)
    for _ in range(_ROUNDS):
        for number, events in enumerate(trees):
            _check(events, values)
            best[number] = min(best[number], _check(events, values))
    return best


def _adds(kinds, count):
    rows = [
        measures.event(kinds[number % len(kinds)], number)
        for number in range(count)
    ]
    events = tree.RevocationTree()
    start = time.thread_time()
    for row in rows:
        events.add(row)
    return count / (time.thread_time() - start)


def main():
    parser = argparse.ArgumentParser(
        description='Time the revocation tree on this machine.'
    )
    parser.add_argument('--few', type=int, default=1000)
    parser.add_argument('--many', type=int, default=1_000_000)
    args = parser.parse_args()

    values = [measures.token() for _ in range(_TOKENS)]
    print(
        f'{"kind":18}{args.few:>11,}{args.many:>11,}   ratio'
        f'{"adds/s":>10}{"bytes":>8}'
    )
    for name, kinds in _KINDS.items():
        trees = [
            measures.filled(kinds, count) for count in (args.few, args.many)
        ]
        gc.collect()
        few, many = _checks(trees, values)
        del trees
        size = sum(
            measures.bytes_per_event(each, 100_000, 3 * 86400)[-1][1]
            for each in kinds
        ) / len(kinds)
        print(
            f'{name:18}{few:8.2f} us{many:8.2f} us{many / few:8.2f}'
            f'{_adds(kinds, 100_000):10,.0f}{size:8.0f}',
            flush=True,
        )


if __name__ == '__main__':
    main()
