# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Validations per second against the number of live revocation events.

The events are written straight into the table, for tokens, chains, users and
so on that are not those of the token under test. One token is then revoked
through the API, so that caches learn of a change, and another is validated
for some seconds.
"""

import dataclasses

from bench import client
from bench import load
from bench import rig
from patchset import progress

COUNTS = {'small': (0, 100, 1000), 'full': (0, 1000, 10_000, 100_000)}
KINDS = {
    'small': ('audit', 'chain'),
    'full': ('audit', 'chain', 'user', 'project', 'domain', 'trust'),
}
SECONDS = {'small': 4, 'full': 15}
CLIENTS = 4

_COLUMNS = {
    'audit': 'audit_id',
    'chain': 'audit_chain_id',
    'user': 'user_id',
    'project': 'project_id',
    'domain': 'domain_id',
    'trust': 'trust_id',
}


def run(pin, scale, caching):
    """Run the experiment.

    :param pin: a :class:`patchset.pins.Pin`
    :param scale: ``small`` or ``full``
    :param caching: whether ``[token] caching`` is on
    :returns: a list of dicts, one per point: kind, events, and for each
        side the fields of :class:`bench.load.Measure`
    """
    points = []
    options = {'token': {'caching': 'true' if caching else 'false'}}
    with rig.both(pin, options) as sides:
        for kind in KINDS[scale]:
            for count in COUNTS[scale]:
                point = {'kind': kind, 'events': count}
                for side in sides:
                    fill(side, _COLUMNS[kind], count)
                    point[side.name] = dataclasses.asdict(
                        measure(side, SECONDS[scale])
                    )
                points.append(point)
                progress.say(line(point))
    return points


def fill(side, column, count):
    """Make the table hold this many events that name one column."""
    side.query('DELETE FROM revocation_event')
    if count:
        side.query(
            f'INSERT INTO revocation_event ({column}, issued_before, '
            f'revoked_at) SELECT LEFT(SHA2(seq, 256), 22), UTC_TIMESTAMP() + '
            f'INTERVAL 1 HOUR, UTC_TIMESTAMP() FROM seq_1_to_{count}'
        )


def measure(side, seconds):
    """Validate one token for some seconds, after a warm-up."""
    subject, revoked = (client.token(side.keystone) for _ in range(2))
    client.revoke(side.keystone, subject, revoked)
    url = f'{side.keystone.url}/auth/tokens'
    headers = {'X-Auth-Token': subject, 'X-Subject-Token': subject}
    load.get(url, headers, 1, CLIENTS)
    return load.get(url, headers, seconds, CLIENTS)


def line(point):
    """One point as a line of text."""
    stock, patched = point['stock'], point['patched']
    ratio = patched['rate'] / stock['rate']
    return (
        f'{point["kind"]:8} {point["events"]:7} events: '
        f'stock {stock["rate"]:7.1f}/s p99 {stock["p99"]:5} ms, '
        f'patched {patched["rate"]:7.1f}/s p99 {patched["p99"]:5} ms, '
        f'ratio {ratio:.2f}'
    )
