# SPDX-License-Identifier: Apache-2.0

"""Status of the keys in a repository."""

import os

import sqlalchemy

from keystone.cmd.revocation import monitoring
from keystone.common import sql
from keystone.credential.backends import sql as credential_sql
from keystone.credential.providers import fernet as credential_fernet


def of(found, credentials=None):
    """The status of a repository.

    :param found: an :class:`~keystone.common.key_history.outlook.Outlook`
    :param credentials: result of :func:`credentials_by_key`, or None
    :returns: dict of plain values; times are seconds since the epoch
    """
    credentials = credentials or {}
    removed, cut = found.removed(), found.cut()
    reasons = list(found.reasons())
    others = sum(
        number
        for index, number in credentials.items()
        if index != max(found.names)
    )
    if others:
        reasons.append(
            f'{others} credentials are not encrypted with the primary key: '
            'run credential_migrate'
        )
    return {
        'section': found.repository.config_group,
        'repository': found.repository.key_repository,
        'max_active_keys': found.repository.max_active_keys,
        'node': found.repository.node,
        'now': found.now,
        'keys': [
            _key(found, index, index in removed, index in cut, credentials)
            for index in sorted(found.names)
        ],
        'nodes': found.others(),
        'safe': not reasons,
        'reasons': reasons,
        'earliest': found.earliest(),
        'code': _code(found),
    }


def _key(found, index, removed, cut, credentials):
    name = found.names[index]
    until, assumed = found.until(index)
    path = os.path.join(found.repository.key_repository, str(index))
    return {
        'index': index,
        'role': found.role(index),
        'name': name[:8],
        'age': max(0, found.now - os.stat(path).st_mtime),
        'last_signed': found.history.keys[name]['last'],
        'until': until,
        'assumed': assumed and bool(until),
        'credentials': credentials.get(index),
        'removed': removed,
        'cut': cut,
    }


def _code(found):
    if next(found.differences(), None):
        return monitoring.CRITICAL
    others = found.others().values()
    if (
        found.unknown
        or found.earliest() is None
        or any(not one['staged'] for one in others)
    ):
        return monitoring.WARNING
    return monitoring.OK


def credentials_by_key(repository):
    """Count the credentials encrypted with each key.

    :returns: {index: number}; index -1 stands for missing keys
    :raises oslo_db.exception.DBError: the database is unreachable
    """
    model = credential_sql.CredentialModel
    with sql.session_for_read() as session:
        rows = session.execute(
            sqlalchemy.select(
                model.key_hash, sqlalchemy.func.count(model.id)
            ).group_by(model.key_hash)
        ).all()
    indexes = {
        credential_fernet.primary_key_hash([key]): index
        for index, key in repository.read().items()
    }
    numbers = dict.fromkeys(indexes.values(), 0)
    for key_hash, number in rows:
        index = indexes.get(key_hash, -1)
        numbers[index] = numbers.get(index, 0) + number
    return numbers
