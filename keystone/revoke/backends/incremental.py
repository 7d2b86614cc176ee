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

"""Reading the table of revocation events piece by piece.

A driver of ``[revoke] driver`` that offers :class:`IncrementalRead` is asked
for what is new, and its events are kept in memory. A driver that does not is
asked for the events of each token, as before.
"""

import abc
import bisect
import contextlib
import functools

from oslo_db.sqlalchemy import enginefacade
import sqlalchemy

from keystone.common import sql
import keystone.conf
from keystone.models import revoke_model

CONF = keystone.conf.CONF

# Rows fetched at a time when the whole table is read.
_BATCH = 5000

# How many ids must follow each other to be named by the first and the last. A
# condition for each of a few would cost more than a list.
_RUN = 32

# The bit of wsrep_sync_wait that is about reads.
_WAIT_BEFORE_READ = 1


class IncrementalRead(abc.ABC):
    """What a driver offers to have its events kept in memory."""

    @abc.abstractmethod
    def read_events(self, since, take, known=(), until=None):
        """Read the events that were recorded from a moment on.

        Where the database can, this waits until it sees all that was
        committed on any server before it began: a causal read.

        :param since: naive UTC datetime; events with a ``revoked_at`` of this
            moment or later are wanted.
        :param take: callable, given each batch of events as a list. An event
            has the attributes ``id``, ``issued_before``, ``revoked_at`` and
            those of a :class:`~keystone.models.revoke_model.RevokeEvent`.
        :param known: ids of events that the caller has already; a driver may
            leave out those of them whose ``revoked_at`` is not past ``until``.
        :param until: naive UTC datetime, given whenever ``known`` is.
        :returns: True if the database has guaranteed a causal read.
        """

    @abc.abstractmethod
    def count_events(self, since, before):
        """Count the events recorded in a span of time.

        :param since: naive UTC datetime, the first moment of the span.
        :param before: naive UTC datetime, the first moment after the span.
        :returns: int
        """


class _Context:
    """A transaction context of its own.

    A read within a transaction that the thread has open might see the table
    as it was when that transaction began.
    """


def _connection():
    root = (
        enginefacade
        if sql.core._TESTING_USE_GLOBAL_CONTEXT_MANAGER
        else sql.core._get_main_context_manager()
    )
    return root.reader.connection.using(_Context())


@contextlib.contextmanager
def _causal(connection):
    """Read what the Galera cluster has committed, or fail."""
    usual = CONF.database.mysql_wsrep_sync_wait
    try:
        # A node that may answer with what it happens to have does not wait.
        _set(connection, (usual or 0) | _WAIT_BEFORE_READ, 'OFF')
        yield
        _set(connection, 'DEFAULT' if usual is None else usual, 'DEFAULT')
    except BaseException:
        # Nobody else is to use it with these settings.
        connection.invalidate()
        raise


def _set(connection, sync_wait, dirty_reads):
    connection.exec_driver_sql(
        f'SET SESSION wsrep_sync_wait = {sync_wait}, '
        f'SESSION wsrep_dirty_reads = {dirty_reads}'
    )


class _Text(sqlalchemy.types.UserDefinedType):
    """A piece of a statement, put there as it is."""

    cache_ok = True

    def literal_processor(self, dialect):
        return str


def _none_of(column, ids):
    """A condition that a column has none of some ids.

    Ids that follow each other are named by the first and the last: most do,
    and a list of them costs the database as much as reading the rows.

    :param column: name of the column
    :param ids: integers, at least one, none twice
    :returns: SQL text
    """
    ids = sorted(ids)
    single, conditions = [], []
    start = 0
    while start < len(ids):
        first, end = ids[start], start + _RUN
        if end > len(ids) or ids[end - 1] - first >= _RUN:
            single.append(first)
            start += 1
            continue
        end = bisect.bisect_right(
            range(len(ids)), first - start, end, key=lambda i: ids[i] - i
        )
        conditions.append(f'{column} NOT BETWEEN {first} AND {ids[end - 1]}')
        start = end
    if single:
        listed = ', '.join(map(str, single))
        conditions.append(f'{column} NOT IN ({listed})')
    return f'({" AND ".join(conditions)})'


class SQLRead(IncrementalRead):
    """Reads the table ``revocation_event`` as plain columns."""

    # (engine, whether it is connected to a Galera node)
    _galera = None

    @property
    def _table(self):
        return sql.ModelBase.metadata.tables['revocation_event']

    @functools.cached_property
    def _events(self):
        """Query of the events since a moment."""
        table = self._table
        columns = [table.c[name] for name in ('id', *revoke_model.REVOKE_KEYS)]
        # Looking for an attribute that a row lacks costs more than to send it.
        columns.append(sqlalchemy.null().label('domain_scope_id'))
        since = sqlalchemy.bindparam('since', type_=table.c.revoked_at.type)
        return sqlalchemy.select(*columns).where(table.c.revoked_at >= since)

    @functools.cached_property
    def _new_events(self):
        """Query of the events since a moment that are not known."""
        revoked_at = self._table.c.revoked_at
        until = sqlalchemy.bindparam('until', type_=revoked_at.type)
        unknown = sqlalchemy.bindparam(
            'unknown', type_=_Text(), literal_execute=True
        )
        return self._events.where(sqlalchemy.or_(unknown, revoked_at > until))

    def read_events(self, since, take, known=(), until=None):
        query, values = self._events, {'since': since}
        if known:
            query = self._new_events
            values['until'] = until
            values['unknown'] = _none_of(f'{self._table.name}.id', known)
        with _connection() as connection:
            galera = self._is_galera(connection)
            with _causal(connection) if galera else contextlib.nullcontext():
                self._read(connection, query, values, take)
        return galera

    def _read(self, connection, query, values, take):
        if query is self._new_events:
            take(connection.execute(query, values).all())
            return
        query = query.execution_options(yield_per=_BATCH)
        for rows in connection.execute(query, values).partitions():
            take(rows)

    def count_events(self, since, before):
        table = self._table
        query = sqlalchemy.select(sqlalchemy.func.count(table.c.id)).where(
            table.c.revoked_at >= since, table.c.revoked_at < before
        )
        with _connection() as connection:
            return connection.scalar(query)

    def _is_galera(self, connection):
        if connection.dialect.name != 'mysql':
            return False
        known_engine, galera = self._galera or (None, False)
        if known_engine is not connection.engine:
            row = connection.exec_driver_sql(
                "SHOW VARIABLES LIKE 'wsrep_on'"
            ).first()
            galera = row is not None and row[1] == 'ON'
            self._galera = (connection.engine, galera)
        return galera
