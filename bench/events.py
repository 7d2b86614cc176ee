# SPDX-License-Identifier: Apache-2.0

"""Revocation events that do not match any token under test.

Keystone writes them because of requests, or they are inserted into the table
directly. The former can be saved, and are then inserted first.
"""

import functools

from bench import client

COLUMNS = {
    'audit': 'audit_id',
    'chain': 'audit_chain_id',
    'user': 'user_id',
    'project': 'project_id',
    'domain': 'domain_id',
    'trust': 'trust_id',
}

_ATTRIBUTES = (
    'domain_id, project_id, user_id, role_id, trust_id, consumer_id, '
    'access_token_id, audit_id, audit_chain_id, expires_at'
)

# Live events are distributed evenly over the time for which stock Keystone
# keeps an event, as they are not all recorded at the same time in a cloud.
_OLDEST = 4800  # seconds ago
_NEWEST = 300
_LONG_AGO = 30 * 24 * 60 * 60


def empty(side):
    """Delete all events, without assigning row ids again.

    :param side: a :class:`bench.testbed.Side`
    """
    newest = number(side, 'COALESCE(MAX(id), 0)')
    if newest:
        for statement in side.database.empty(newest):
            side.query(statement)


def save(side, kind):
    """Copy the events of a kind to another table, for :func:`add`.

    :returns: their number
    """
    side.query(
        f'CREATE TABLE saved_{kind} AS SELECT id, {_ATTRIBUTES} '
        f'FROM revocation_event WHERE {COLUMNS[kind]} IS NOT NULL'
    )
    return number(side, 'COUNT(*)', f'saved_{kind}')


def add(side, kind, first, last, total, saved=0):
    """Add live events of a kind: numbers ``first`` to ``last`` of ``total``.

    Later numbers are recorded later, and have to be added later.

    :param saved: number of events that :func:`save` has saved, which come
        first
    """
    interval = (_OLDEST - _NEWEST) / total
    timestamp = side.database.timestamp
    times = timestamp(3600), timestamp(-_OLDEST, interval)
    if first <= saved:
        side.query(
            f'INSERT INTO revocation_event '
            f'({_ATTRIBUTES}, issued_before, revoked_at) '
            f'SELECT {_ATTRIBUTES}, {", ".join(times)} FROM '
            f'(SELECT {_ATTRIBUTES}, ROW_NUMBER() OVER (ORDER BY id) AS seq '
            f'FROM saved_{kind}) AS saved '
            f'WHERE seq BETWEEN {first} AND {min(last, saved)}'
        )
    if last > saved:
        first = max(first, saved + 1)
        _insert(side, COLUMNS[kind], first, last, *times)


def add_expired(side, count):
    """Add events of chains that are expired for any release of Keystone."""
    timestamp = side.database.timestamp(-_LONG_AGO, 1)
    _insert(side, COLUMNS['chain'], 1, count, timestamp, timestamp)


def number(side, expression, table='revocation_event'):
    """The value of an SQL expression about the rows of a table."""
    ((value,),) = side.query(f'SELECT {expression} FROM {table}')
    return int(value)


def _insert(side, column, first, last, issued_before, revoked_at):
    """Add events with unique values of a column; the times are SQL."""
    # Audit ids are 16 bytes in base64: four bits of the last character are 0.
    side.query(
        f'INSERT INTO revocation_event ({column}, issued_before, revoked_at) '
        f"SELECT CONCAT(LEFT(MD5(CONCAT(seq, '')), 21), 'A'), "
        f'{issued_before}, {revoked_at} '
        f'FROM {side.database.numbers(first, last)}'
    )


def revoke_tokens(keystone, count):
    """Issue tokens, and revoke each by itself.

    Keystone writes an event of the token, and one of its chain.
    """

    def revoke_token():
        token = client.token(keystone)
        client.revoke(keystone, token, token)

    client.call_concurrently(revoke_token, count)


def _create_and_delete(path, body, keystone, count):
    """Create and delete resources, as the admin.

    :param path: of the collection
    :param body: function of the data of the admin's token
    """
    caller = client.token(keystone)
    admin = client.token_data(keystone, caller)
    client.call_concurrently(
        lambda: client.create_and_delete(keystone, caller, path, body(admin)),
        count,
    )


def _trust(admin):
    return {
        'trust': {
            'trustor_user_id': admin['user']['id'],
            'trustee_user_id': admin['user']['id'],
            'project_id': admin['project']['id'],
            'impersonation': True,
            'roles': [{'name': 'admin'}],
        }
    }


#: Functions that cause events, by their kinds. None causes those of a domain.
CAUSES = {
    ('audit', 'chain'): revoke_tokens,
    ('user',): functools.partial(
        _create_and_delete, '/users', lambda _: client.named_body('user')
    ),
    ('project',): functools.partial(
        _create_and_delete, '/projects', lambda _: client.named_body('project')
    ),
    ('trust',): functools.partial(
        _create_and_delete, '/OS-TRUST/trusts', _trust
    ),
}
