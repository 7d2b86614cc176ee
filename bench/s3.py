# SPDX-License-Identifier: Apache-2.0

"""Rate at which Keystone verifies signed requests of other services."""

import json

from bench import client
from bench import load
from bench import runs
from bench import signing
from bench import table
from bench import testbed

TITLE = 'Cost of a signed request'
SIGNED = {'s3tokens': signing.s3, 'ec2tokens': signing.ec2}
SECRET = 'secret'
KINDS = (*SIGNED, SECRET)
SECONDS = {'small': 1, 'full': 5}
REPEATS = {'small': 6, 'full': 10}
CLIENTS = 4
_WARM = 1  # seconds


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    results = runs.Runs('kind')
    with testbed.both(plan) as sides:
        keys = {side: access_keys(side.keystone) for side in sides}
        for side in sides:
            for kind in KINDS:
                measure(side, kind, keys[side], _WARM)
        for kind, side in testbed.rounds(sides, REPEATS[plan.scale], KINDS):
            results.measure(
                side, (kind,), measure, side, kind, keys[side],
                SECONDS[plan.scale],
            )  # fmt: skip
    return points(results)


def access_keys(keystone):
    """Access keys of the admin, one per client: (access key, secret) each."""
    caller = client.token(keystone)
    admin = client.token_data(keystone, caller)
    ids = admin['user']['id'], admin['project']['id']
    return [
        client.create_access_key(keystone, caller, *ids)
        for _ in range(CLIENTS)
    ]


def measure(side, kind, keys, seconds):
    """Measure a time slice, see :meth:`bench.load.Answers.measure`.

    :param keys: list of (access key, secret)
    """
    caller = client.token(side.keystone)
    if kind == SECRET:
        user = client.token_data(side.keystone, caller)['user']['id']
        path = f'/v3/users/{user}/credentials/OS-EC2'
        requests = [
            (caller, '', '', 'GET', f'{path}/{key}') for key, _ in keys
        ]
    else:
        bodies = [json.dumps(SIGNED[kind](*key)) for key in keys]
        requests = [(caller, '', body) for body in bodies]
    url = f'{side.keystone.url}/{kind}'
    return load.during(url, requests, seconds, CLIENTS).measure()


def points(results):
    """Summarize the rounds.

    :param results: a :class:`bench.runs.Runs` by kind
    :returns: the result of :meth:`bench.runs.Runs.points`, with each side's
        runs divided by stock's as ``of_stock`` and ``of_stock_spread``
    """
    points = results.points(ratio=False)
    for point in points:
        for side in ('stock', 'patched'):
            for suffix in ('', '_spread'):
                ratio = point[side].pop(f'of_own_0{suffix}')
                point[side][f'of_stock{suffix}'] = ratio
    return points


text = table.of_sides(
    ('request', 'kind'), table.SIDE, table.RATE,
    ('of stock', 'of_stock', table.percent),
    ('spread', 'of_stock_spread', table.percents),
    *table.times(), table.RUNS,
)  # fmt: skip
