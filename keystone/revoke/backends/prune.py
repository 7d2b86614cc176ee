# SPDX-License-Identifier: Apache-2.0

"""Deletion of expired revocation events in batches.

If the ``[revoke] driver`` implements :class:`Prune`, its expired events are
deleted after revocations and by ``keystone-manage revocation_prune``.
"""

import abc
import collections
import contextlib

from oslo_db import exception as db_exception
import sqlalchemy

from keystone.revoke.backends import db_errors
from keystone.revoke.backends import incremental

# Milliseconds that a batch waits for a lock, where the database supports it.
_LONGEST_WAIT = 50

# Error of MariaDB for a failed commit, which rolls back the transaction.
_FAILED_COMMIT = 1180

# SQLSTATE of PostgreSQL for a lock that is not available.
_LOCKED = '55P03'

#: Result of one batch.
#:
#: ``found``: number of selected expired events
#: ``deleted``: number of events deleted by this batch; another process may
#: have deleted some if rows cannot be locked
#: ``last``: latest ``revoked_at`` of the selected events, naive UTC, or None
#: ``given_up``: None, or the lock error for which nothing was deleted
Batch = collections.namedtuple(
    'Batch', ('found', 'deleted', 'last', 'given_up')
)


class Prune(abc.ABC):
    """Interface of drivers whose expired events can be deleted."""

    @abc.abstractmethod
    def prune_events(self, before, limit, since=None):
        """Delete some expired events, oldest first.

        Events locked by other transactions are skipped without waiting.

        :param before: naive UTC datetime; only events with an earlier
            ``revoked_at`` are deleted
        :param limit: maximum number of events to delete
        :param since: naive UTC datetime; events with an earlier
            ``revoked_at`` are ignored. Use the end of the previous batch, or
            the database may scan all rows deleted so far.
        :returns: a :class:`Batch`
        :raises oslo_db.exception.DBError, sqlalchemy.exc.DBAPIError: the
            database fails for a reason other than locks
        """

    @abc.abstractmethod
    def span_of_events(self):
        """Times of the oldest and the newest event.

        :returns: ``revoked_at`` of both, naive UTC datetimes, or None for
            both if there are no events
        """


class SQLPrune(Prune):
    """Prunes the table ``revocation_event``.

    A batch is one short transaction: rows are selected and locked by the index
    on ``revoked_at``, then deleted by primary key.
    """

    def prune_events(self, before, limit, since=None):
        try:
            with (
                incremental.connect() as connection,
                _minimal_locking(connection),
            ):
                batch = self._prune(connection, before, limit, since)
                connection.commit()
                return batch
        except (db_exception.DBError, sqlalchemy.exc.DBAPIError) as error:
            if not _is_about_locks(error):
                raise
            return Batch(0, 0, None, db_errors.first_line(error))

    def _prune(self, connection, before, limit, since):
        columns = incremental.table().c
        query = (
            sqlalchemy.select(columns.id, columns.revoked_at)
            .where(columns.revoked_at < before)
            .order_by(columns.revoked_at)
            .limit(limit)
        )
        if since is not None:
            query = query.where(columns.revoked_at >= since)
        if _skips_locked(connection.dialect):
            query = query.with_for_update(skip_locked=True)
        rows = connection.execute(query).all()
        if not rows:
            return Batch(0, 0, None, None)
        deleted = self._delete(connection, sorted(row.id for row in rows))
        return Batch(len(rows), deleted, rows[-1].revoked_at, None)

    def _delete(self, connection, ids):
        # Ids as literals, since databases limit the number of parameters.
        known = sqlalchemy.bindparam(
            'ids', ids, expanding=True, literal_execute=True
        )
        if connection.dialect.name == 'mysql':
            # It prefers to scan a small table, and would wait for rows being
            # inserted. The limit ends the scan before them.
            most = sqlalchemy.bindparam('most', len(ids), literal_execute=True)
            delete = sqlalchemy.text(
                'DELETE FROM revocation_event WHERE id IN :ids '
                'ORDER BY id LIMIT :most'
            ).bindparams(known, most)
        else:
            table = incremental.table()
            delete = table.delete().where(table.c.id.in_(known))
        return connection.execute(delete).rowcount

    def span_of_events(self):
        revoked_at = incremental.table().c.revoked_at
        # Two queries: each reads one entry of the index.
        with incremental.connect() as connection:
            return tuple(
                connection.scalar(sqlalchemy.select(function(revoked_at)))
                for function in (sqlalchemy.func.min, sqlalchemy.func.max)
            )


def _skips_locked(dialect):
    version = dialect.server_version_info
    if dialect.name == 'mysql':
        return version >= ((10, 6) if dialect.is_mariadb else (8, 0, 1))
    return dialect.name == 'postgresql' and version >= (9, 5)


@contextlib.contextmanager
def _minimal_locking(connection):
    """Lock rows but no gaps, and hardly wait for locks."""
    execute = connection.exec_driver_sql
    if connection.dialect.name in ('mysql', 'postgresql'):
        # For this transaction only.
        execute('SET TRANSACTION ISOLATION LEVEL READ COMMITTED')
    wait, usual = _settings(connection)
    if wait is None:
        yield
        return
    execute(wait)
    try:
        yield
    finally:
        try:
            # First release the locks of a failed batch.
            connection.rollback()
            if usual is not None:
                execute(usual)
        except Exception:
            # Do not return a connection with changed settings to the pool.
            connection.invalidate()


def _settings(connection):
    """Statements that set how to wait for locks, and restore what was set.

    :returns: two str; None for both if the database is not known, and for the
        second one if the settings end with the transaction
    """
    execute = connection.exec_driver_sql
    name = connection.dialect.name
    if name == 'mysql':
        # Whole seconds. With 0, MariaDB fails to skip locked rows.
        change = (
            'SET SESSION innodb_lock_wait_timeout = {}, '
            'SESSION lock_wait_timeout = {}'
        )
        usual = execute(
            'SELECT @@innodb_lock_wait_timeout, @@lock_wait_timeout'
        ).one()
        return change.format(1, 1), change.format(*usual)
    if name == 'postgresql':
        settings = {
            'lock_timeout': _LONGEST_WAIT,
            # With outdated table statistics, it may prefer to scan the table,
            # or to sort all expired events.
            'enable_seqscan': 'off',
            'enable_sort': 'off',
            # Rows restored after a server crash are deleted again.
            'synchronous_commit': 'off',
        }
        wait = 'SELECT ' + ', '.join(
            f"set_config('{setting}', '{value}', true)"
            for setting, value in settings.items()
        )
        return wait, None
    if name == 'sqlite':
        change = 'PRAGMA busy_timeout = {}'
        usual = execute('PRAGMA busy_timeout').scalar()
        return change.format(_LONGEST_WAIT), change.format(usual)
    return None, None


def _is_about_locks(error):
    """Whether a database error is caused by a lock or a conflict."""
    if db_errors.is_conflict(error):
        # Includes lock wait timeouts and Galera conflicts.
        return True
    if db_errors.error_number(error) == _FAILED_COMMIT:
        # Another node of a Galera cluster has deleted the same events.
        return True
    if db_errors.sqlstate(error) == _LOCKED:
        return True
    cause = db_errors.driver_error(error)
    name = getattr(cause, 'sqlite_errorname', None) or ''
    return name.startswith(('SQLITE_BUSY', 'SQLITE_LOCKED'))
