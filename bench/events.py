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

"""Revocation events that are written straight into the table.

They name tokens, chains, users and so on that no token under test has.
"""

COLUMNS = {
    'audit': 'audit_id',
    'chain': 'audit_chain_id',
    'user': 'user_id',
    'project': 'project_id',
    'domain': 'domain_id',
    'trust': 'trust_id',
}

# The live ones were recorded at a steady pace, all within the time for which
# stock Keystone keeps an event: as many at once would be no cloud's.
_OLDEST = 4800  # seconds ago
_NEWEST = 300
_LONG_AGO = 30 * 24 * 60 * 60


def empty(side):
    """Make the table empty; row ids go on from where they were.

    :param side: a :class:`bench.rig.Side`
    """
    ((newest,),) = side.query(
        'SELECT COALESCE(MAX(id), 0) FROM revocation_event'
    )
    if newest != '0':
        for statement in side.sql.empty(int(newest)):
            side.query(statement)


def add(side, kind, first, last, most):
    """Add live events of a kind: numbers ``first`` to ``last`` of ``most``.

    Numbers have to be added in order: the higher, the later recorded.
    """
    seconds = (_OLDEST - _NEWEST) / most
    _insert(
        side, COLUMNS[kind], first, last, side.sql.moment(3600),
        side.sql.moment(-_OLDEST, seconds),
    )  # fmt: skip


def add_expired(side, count):
    """Add events of chains that no release of Keystone keeps any longer."""
    moment = side.sql.moment(-_LONG_AGO, 1)
    _insert(side, COLUMNS['chain'], 1, count, moment, moment)


def count(side):
    """How many rows the table has."""
    ((rows,),) = side.query('SELECT COUNT(*) FROM revocation_event')
    return int(rows)


def _insert(side, *arguments):
    side.query(side.sql.insert(*arguments))
