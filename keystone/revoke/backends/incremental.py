# SPDX-License-Identifier: Apache-2.0

"""Reading the table of revocation events piece by piece.

A driver of ``[revoke] driver`` that offers :class:`IncrementalRead` is asked
for what is new, and its events are kept in memory. A driver that does not is
asked for the events of each token, as before.
"""

import abc
import collections
import contextlib
import functools

from oslo_db.sqlalchemy import enginefacade
import sqlalchemy

from keystone.common import sql
import keystone.conf
from keystone.models import revoke_matching
from keystone.models import revoke_model

CONF = keystone.conf.CONF

# Rows fetched at a time when the whole table is read.
_BATCH = 5000

# Attributes with an index of their own, each with issued_before; the others
# of which a row is found by what the token has.
_INDEXED = ('audit_id', 'user_id', 'project_id')
_OTHERS = (
    'audit_chain_id', 'trust_id', 'consumer_id', 'access_token_id',
    'domain_id',
)  # fmt: skip

# The bit of wsrep_sync_wait that is about reads.
_WAIT_BEFORE_READ = 1

#: The ids that a reader knows: all that it has seen above ``floor``.
#:
#: ``floor``: an id; what it has seen up to there does not matter
#: ``last``: the highest id that it has seen, or ``floor``
#: ``count``, ``total``: number and sum of the ids that it has seen in between
Known = collections.namedtuple('Known', ('floor', 'last', 'count', 'total'))

#: What a reader did not know.
#:
#: ``causal``: True if the database has guaranteed that the read saw all that
#: was committed on any server before it began
#: ``rows``: events with the id ``last`` of :class:`Known` or a higher one,
#: and the one that was asked for
#: ``between``: None if the reader knows just those between ``floor`` and
#: ``last``; otherwise all of them
News = collections.namedtuple('News', ('causal', 'rows', 'between'))


class IncrementalRead(abc.ABC):
    """What a driver offers to have its events kept in memory.

    An event has the attributes ``id``, ``issued_before``, ``revoked_at`` and
    those of a :class:`~keystone.models.revoke_model.RevokeEvent`.
    """

    @abc.abstractmethod
    def read_events(self, since, take):
        """Read the events that were recorded from a moment on.

        :param since: naive UTC datetime; events with a ``revoked_at`` of this
            moment or later are wanted.
        :param take: callable, given each batch of events as a list.
        :returns: True if the database has guaranteed a causal read.
        """

    @abc.abstractmethod
    def read_news(self, known, row_id=None):
        """Read the events whose ids are not known.

        Where the database can, this waits until it sees all that was
        committed on any server before it began: a causal read.

        :param known: a :class:`Known`
        :param row_id: id of an event that is wanted in any case
        :returns: a :class:`News`
        """

    @abc.abstractmethod
    def id_before(self, moment):
        """Tell which events had their ids before a moment, by their clocks.

        :param moment: naive UTC datetime
        :returns: the highest id below those of all events with a
            ``revoked_at`` of this moment or later; 0 if there is none
        """

    @abc.abstractmethod
    def count_events(self, since, before):
        """Count the events recorded in a span of time.

        :param since: naive UTC datetime, the first moment of the span.
        :param before: naive UTC datetime, the first moment after the span.
        :returns: int
        """

    def read_matching(self, token):
        """Read the events that may revoke a token, from the database.

        They are read for each token while they are not kept in memory. A
        driver should find them by indexes.

        :param token: dictionary of
            :func:`~keystone.models.revoke_model.build_token_values`; what is
            missing the token does not have
        :returns: list of :class:`~keystone.models.revoke_model.RevokeEvent`
        """
        # Drivers read what a token does not have as well.
        blank = revoke_model.blank_token_data(None)
        return self.list_events(token={**blank, **token})


def _connection():
    root = (
        enginefacade
        if sql.core._TESTING_USE_GLOBAL_CONTEXT_MANAGER
        else sql.core._get_main_context_manager()
    )
    # Not one of the enginefacade: within a transaction that the thread has
    # open, it might see the table as it was when that began. And one to the
    # primary database: what [database] slave_connection names may lack an
    # event that was answered.
    return root.writer.get_engine().connect()


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
        # No other thread is to use it with these settings.
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

    @functools.cached_property
    def _events(self):
        """Query of all events."""
        table = self._table
        columns = [table.c[name] for name in ('id', *revoke_model.REVOKE_KEYS)]
        # Looking for an attribute that a row lacks costs more than to send it.
        columns.append(sqlalchemy.null().label('domain_scope_id'))
        return sqlalchemy.select(*columns)

    @contextlib.contextmanager
    def _reading(self):
        """A connection, and whether what it reads is causal."""
        with _connection() as connection:
            galera = self._is_galera(connection)
            with _causal(connection) if galera else contextlib.nullcontext():
                yield connection, galera

    def read_events(self, since, take):
        query = self._events.where(self._table.c.revoked_at >= since)
        query = query.execution_options(yield_per=_BATCH)
        with self._reading() as (connection, causal):
            for rows in connection.execute(query).partitions():
                take(rows)
        return causal

    def read_news(self, known, row_id=None):
        ids = self._table.c.id
        wanted = ids >= known.last
        if row_id is not None:
            wanted = sqlalchemy.or_(wanted, ids == row_id)
        with self._reading() as (connection, causal):
            between = self._between(connection, known)
            rows = connection.execute(self._events.where(wanted)).all()
        return News(causal, rows, between)

    def _between(self, connection, known):
        if known.count == known.last - known.floor:
            # No id is left for another one.
            return None
        ids = self._table.c.id
        span = sqlalchemy.and_(ids > known.floor, ids <= known.last)
        functions = sqlalchemy.func.count(ids), sqlalchemy.func.sum(ids)
        count, total = connection.execute(
            sqlalchemy.select(*functions).where(span)
        ).one()
        if (count, int(total or 0)) == (known.count, known.total):
            return None
        return connection.execute(self._events.where(span)).all()

    def id_before(self, moment):
        table = self._table
        first = (
            sqlalchemy.select(sqlalchemy.func.min(table.c.id))
            .where(table.c.revoked_at >= moment)
            .scalar_subquery()
        )
        earlier = sqlalchemy.or_(first.is_(None), table.c.id < first)
        query = sqlalchemy.select(sqlalchemy.func.max(table.c.id))
        with self._reading() as (connection, _causal):
            return connection.scalar(query.where(earlier)) or 0

    def count_events(self, since, before):
        table = self._table
        query = sqlalchemy.select(sqlalchemy.func.count(table.c.id)).where(
            table.c.revoked_at >= since, table.c.revoked_at < before
        )
        with _connection() as connection:
            return connection.scalar(query)

    @functools.cached_property
    def _matching(self):
        """Query of the events that may revoke a token."""
        columns = self._table.c
        is_one_of = {
            name: columns[name].in_(sqlalchemy.bindparam(name, expanding=True))
            for name in (*_INDEXED, *_OTHERS)
        }
        rest = [columns.issued_before >= sqlalchemy.bindparam('issued_at')]
        rest += [
            sqlalchemy.or_(columns[name].is_(None), condition)
            for name, condition in is_one_of.items()
        ]
        queries = []
        for name in _INDEXED:
            # One query for each index: no database uses several for one.
            queries.append(self._events.where(is_one_of[name], *rest))
            rest.append(columns[name].is_(None))
        queries.append(self._events.where(*rest))
        return sqlalchemy.union_all(*queries)

    def read_matching(self, token):
        # A None among the values equals nothing.
        values = {
            name: list(revoke_matching.CANDIDATES[name](token))
            for name in (*_INDEXED, *_OTHERS)
        }
        values['issued_at'] = token['issued_at'].replace(microsecond=0)
        with self._reading() as (connection, _causal):
            rows = connection.execute(self._matching, values).all()
        return [revoke_model.RevokeEvent(**row._mapping) for row in rows]

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
