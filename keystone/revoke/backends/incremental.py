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
import contextlib

from oslo_db.sqlalchemy import enginefacade
import sqlalchemy

from keystone.common import sql
import keystone.conf
from keystone.models import revoke_model

CONF = keystone.conf.CONF

# Rows fetched at a time when the whole table is read.
_BATCH = 5000

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


class SQLRead(IncrementalRead):
    """Reads the table ``revocation_event`` as plain columns."""

    # (engine, whether it is connected to a Galera node)
    _galera = None

    @property
    def _table(self):
        return sql.ModelBase.metadata.tables['revocation_event']

    def read_events(self, since, take, known=(), until=None):
        table = self._table
        columns = [table.c[name] for name in ('id', *revoke_model.REVOKE_KEYS)]
        # Looking for an attribute that a row lacks costs more than to send it.
        columns.append(sqlalchemy.null().label('domain_scope_id'))
        query = sqlalchemy.select(*columns).where(table.c.revoked_at >= since)
        if known:
            # Ids as part of the text: databases limit the parameters.
            ids = sqlalchemy.bindparam(
                'known', list(known), expanding=True, literal_execute=True
            )
            query = query.where(
                sqlalchemy.or_(
                    table.c.id.not_in(ids), table.c.revoked_at > until
                )
            )
        with _connection() as connection:
            galera = self._is_galera(connection)
            with _causal(connection) if galera else contextlib.nullcontext():
                self._read(connection, query, take, stream=not known)
        return galera

    def _read(self, connection, query, take, stream):
        if not stream:
            take(connection.execute(query).all())
            return
        query = query.execution_options(yield_per=_BATCH)
        for rows in connection.execute(query).partitions():
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
