# SPDX-License-Identifier: Apache-2.0

"""Revocation events that do not match any token under test.

Keystone writes them itself, caused through the API, or they are written
directly into the table. The former can be saved, and are then inserted first.
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

# The live ones were recorded at a steady pace, all within the time for which
# stock Keystone keeps an event: as many at once would be no cloud's.
_OLDEST = 4800  # seconds ago
_NEWEST = 300
_LONG_AGO = 30 * 24 * 60 * 60


def empty(side):
    """Make the table empty; row ids go on from where they were.

    :param side: a :class:`bench.testbed.Side`
    """
    ((newest,),) = side.query(
        'SELECT COALESCE(MAX(id), 0) FROM revocation_event'
    )
    if newest != '0':
        for statement in side.sql.empty(int(newest)):
            side.query(statement)


def keep(side, kind):
    """Keep the events of a kind aside, for :func:`add`.

    :returns: how many there are
    """
    side.query(
        f'CREATE TABLE kept_{kind} AS SELECT id, {_ATTRIBUTES} '
        f'FROM revocation_event WHERE {COLUMNS[kind]} IS NOT NULL'
    )
    ((rows,),) = side.query(f'SELECT COUNT(*) FROM kept_{kind}')
    return int(rows)


def add(side, kind, first, last, most, kept=0):
    """Add live events of a kind: numbers ``first`` to ``last`` of ``most``.

    Numbers have to be added in order: the higher, the later recorded.

    :param kept: the numbers up to this one are those that were kept aside
    """
    seconds = (_OLDEST - _NEWEST) / most
    moments = side.sql.moment(3600), side.sql.moment(-_OLDEST, seconds)
    if first <= kept:
        side.query(
            f'INSERT INTO revocation_event '
            f'({_ATTRIBUTES}, issued_before, revoked_at) '
            f'SELECT {_ATTRIBUTES}, {", ".join(moments)} FROM '
            f'(SELECT {_ATTRIBUTES}, ROW_NUMBER() OVER (ORDER BY id) AS seq '
            f'FROM kept_{kind}) AS kept '
            f'WHERE seq BETWEEN {first} AND {min(last, kept)}'
        )
    if last > kept:
        first = max(first, kept + 1)
        _insert(side, COLUMNS[kind], first, last, *moments)


def add_expired(side, count):
    """Add events of chains that no release of Keystone keeps any longer."""
    moment = side.sql.moment(-_LONG_AGO, 1)
    _insert(side, COLUMNS['chain'], 1, count, moment, moment)


def count(side):
    """How many rows the table has."""
    ((rows,),) = side.query('SELECT COUNT(*) FROM revocation_event')
    return int(rows)


def _insert(side, column, first, last, issued_before, revoked_at):
    """Add events; the column tells them apart, the last two are SQL."""
    # Audit ids are 16 bytes in base64: of the last character, four bits are 0.
    side.query(
        f'INSERT INTO revocation_event ({column}, issued_before, revoked_at) '
        f"SELECT CONCAT(LEFT(MD5(CONCAT(seq, '')), 21), 'A'), "
        f'{issued_before}, {revoked_at} '
        f'FROM {side.sql.numbers(first, last)}'
    )


def revoked_tokens(keystone, count):
    """Have tokens issued and revoked, each by its own holder.

    Keystone writes an event of the token, and one of its chain.
    """

    def one():
        token = client.token(keystone)
        client.revoke(keystone, token, token)

    client.call_concurrently(one, count)


def _deleted(path, body, keystone, count):
    """Create and delete things, as the admin.

    :param path: of the collection
    :param body: function of what Keystone says of the admin's token
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


#: What has Keystone write events of some kinds. It writes none for a domain.
MAKERS = {
    ('audit', 'chain'): revoked_tokens,
    ('user',): functools.partial(
        _deleted, '/users', lambda _: client.named_body('user')
    ),
    ('project',): functools.partial(
        _deleted, '/projects', lambda _: client.named_body('project')
    ),
    ('trust',): functools.partial(_deleted, '/OS-TRUST/trusts', _trust),
}
