# SPDX-License-Identifier: Apache-2.0

"""Points of results of each experiment, as the report reads them."""

_ONE = {
    'rate': 10, 'rate_spread': [9, 12], 'of_own_0': 1,
    'of_own_0_spread': [0.9, 1.1], 'p50': 1, 'p99': 2, 'repeats': 3,
    'runs': 3 * [{'rate': 10}],
}  # fmt: skip
_MIXED = {
    **_ONE, 'loss': 0, 'work': 0, 'revoked': 1, 'revoke_p99': None,
    'revoker_cpu': 0,
}  # fmt: skip
_FIRST = {'ms': 40, 'spread': [30, 50], 'of_own_0': 1, 'runs': [[40]]}
_MORE = {**_ONE, 'gets': 9, 'sets': 1, 'bytes': 999, 'ms': 4}
_SIDES = {
    'stock': _MORE, 'patched': _MORE, 'ratio': 1, 'ratio_spread': [1, 1],
}  # fmt: skip
_LOADS = [
    {'what': what, 'clients': clients, **_SIDES}
    for what in ('create', 'validate')
    for clients in (1, 20)
]
_SIZE = {'pss': 90, 'rss': 99, 'each': None}
_WRITTEN = {**_ONE, 'written': 5, 'write_p50': None}
_ASKED = {**_ONE, 'gets': 9, 'sets': 1, 'hits': 8, 'refused': None}
_NEAR = {**_ONE, 'cumulative': list(range(101))}
_REFUSED = {'median': 0.1, 'most': None, 'tokens': 2, 'revoking': 1}
_NOTICED = {
    'requests': 9, 'failed': 1, 'refused': 0, 'lasted': 2,
    'recovered': 1, 'slowest': 1, 'revoked': 3, 'accepted': 0,
    'longest': 0,
}  # fmt: skip
_LOST = {'lost': 0}

# fmt: off
ALL = {
    'revocations': [
        {
            'kind': 'audit',
            'events': count,
            'stock': _ONE,
            'patched': _ONE,
        }
        for count in (0, 10, 100)
    ],
    'mixed': [
        {'asked': asked, 'stock': _MIXED, 'patched': _MIXED}
        for asked in (0, 5)
    ],
    'prune': [
        {'expired': 0, 'stock': _FIRST, 'patched': _FIRST},
        {'expired': 100, 'stock': _FIRST, 'patched': _FIRST},
        {
            'quiet': [_ONE],
            'pruning': [_ONE, _ONE],
            'p99_ratio': 1,
            'memory': {'first': 1024, 'most': 2048},
            'summary': 'Deleted 100 events.',
            'lock_waits': 0,
            'longest_lock_wait': '0 ms',
            'deadlocks': 0,
        },
    ],
    'catalog': [
        {
            'load': name,
            'endpoints': size,
            'stock': {**_ONE, 'first': 50},
            'patched': {**_ONE, 'first': 20},
            'ratio': 1,
            'ratio_spread': [0.9, 1.1],
        }
        for name in ('validate', 'rescope')
        for size in (1, 300)
    ],
    'tokens': [
        {**point, 'cache': cache}
        for cache in ('memcached', 'none')
        for point in _LOADS
    ],
    'formats': [
        {**point, 'format': name}
        for name in ('fernet', 'jws')
        for point in _LOADS
    ],
    'memory': [
        {
            'kind': kind,
            'number': number,
            'stock': _SIZE,
            'patched': _SIZE,
        }
        for kind in ('chain', 'tokens')
        for number in (0, 10)
    ],
    'rally': [
        {
            **_SIDES,
            'database': database,
            'delay': delay,
            'scenario': 'create_and_list_users',
            'clients': 10,
            'stock': {**_ONE, 'failed': 0, 'reads': 0.9},
            'patched': {**_ONE, 'failed': 1, 'reads': 0.8},
        }
        for database, delay in (('mariadb', 0), ('galera', 100))
    ],
    'living': [
        {
            **_SIDES, 'case': case, 'pace': pace,
            'stock': _WRITTEN, 'patched': _WRITTEN,
        }
        for case, paces in (
            ('grants', ('quiet', '5/s', '0.2/s')),
            ('own-ec2', ('quiet', 'loop')),
        )
        for pace in paces
    ],
    'services': [
        {
            **_SIDES, 'case': case, 'where': where, 'load': load,
            'stock': _ASKED, 'patched': _ASKED,
        }
        for case, where in (
            ('services', '2 processes'), ('processes', '1 process'),
            ('processes', '4 processes'),
        )
        for load in ('first service', 'all services')
    ],
    'regions': [
        {
            **_SIDES, 'nodes': 3, 'database': 'mariadb',
            'case': 'uniform', 'delay': delay, 'load': 'light',
            'request': request, 'stock': _NEAR, 'patched': _NEAR,
        }
        for delay in (0, 100)
        for request in ('create_token', 'validate_token')
    ],
    'propagation': [
        {
            'case': 'shared', 'delay': 0,
            'stock': _REFUSED, 'patched': _REFUSED,
        },
        {'case': 'per-node-1s', 'delay': 0, 'patched': _REFUSED},
    ],
    'faults': [
        {
            'case': 'near', 'fault': 'worker killed',
            'stock': _NOTICED, 'patched': _NOTICED,
        },
        {
            'case': 'near', 'fault': 'after all of them',
            'stock': _LOST, 'patched': _LOST,
        },
    ],
}
# fmt: on
