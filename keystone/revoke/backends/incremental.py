# SPDX-License-Identifier: Apache-2.0

"""Incremental reads of the revocation event table.

If the ``[revoke] driver`` implements :class:`IncrementalRead`, its events are
kept in memory and only new ones are read. Otherwise, it is queried for each
token, as before.
"""

import abc
import collections
import contextlib
import functools

from oslo_db import api as oslo_db_api
from oslo_db.sqlalchemy import enginefacade
import sqlalchemy

from keystone.common import sql
import keystone.conf
from keystone.models import revoke_matching
from keystone.models import revoke_model
from keystone.revoke.backends import db_errors

CONF = keystone.conf.CONF

# Rows fetched at once when the whole table is read.
_BATCH = 5000

# Attributes with an index, each with issued_before.
_INDEXED = ('audit_id', 'user_id', 'project_id')
_OTHERS = (
    'audit_chain_id', 'trust_id', 'consumer_id', 'access_token_id',
    'domain_id',
)  # fmt: skip

# The bit of wsrep_sync_wait for reads.
_WAIT_BEFORE_READ = 1

#: The ids known to a reader: all that it has seen above ``floor``.
#:
#: ``floor``: an id; ids up to it are not relevant
#: ``last``: the highest id seen, or ``floor``
#: ``count``, ``total``: number and sum of the ids seen in between
Known = collections.namedtuple('Known', ('floor', 'last', 'count', 'total'))

#: Events unknown to a reader.
#:
#: ``causal``: True if the database guarantees that the read includes
#: everything committed on any server before it started
#: ``rows``: the requested event, and those with the id ``last`` of
#: :class:`Known` or higher if the reader knows exactly those in between
#: ``complete``: otherwise True, and ``rows`` has all events above ``floor``
News = collections.namedtuple('News', ('causal', 'rows', 'complete'))

#: Decorators that repeat a function whose transaction conflicts with another
#: one: a read for a third of a second, unless it has waited already, and a
#: write as often as upstream does.
retry_read = oslo_db_api.wrap_db_retry(
    max_retries=4,
    retry_interval=0.02,
    exception_checker=db_errors.is_brief_conflict,
)
retry_write = oslo_db_api.wrap_db_retry(
    retry_interval=0.02, exception_checker=db_errors.is_conflict
)


class IncrementalRead(abc.ABC):
    """Interface of drivers whose events can be kept in memory.

    An event has the attributes ``id``, ``issued_before``, ``revoked_at`` and
    those of a :class:`~keystone.models.revoke_model.RevokeEvent`.
    """

    @abc.abstractmethod
    def read_events(self, since):
        """Read the events recorded since a time.

        :param since: naive UTC datetime, the earliest ``revoked_at``
        :returns: iterator over batches of events, as lists
        """

    @abc.abstractmethod
    def read_news(self, known, row_id=None):
        """Read the events with unknown ids.

        If the database supports it, this is a causal read: it waits until
        everything committed on any server before its start is visible.

        :param known: a :class:`Known`
        :param row_id: id of an event to read in any case
        :returns: a :class:`News`
        """

    @abc.abstractmethod
    def id_before(self, moment):
        """The ids assigned before a time, according to ``revoked_at``.

        :param moment: naive UTC datetime
        :returns: the highest id below those of all events with a
            ``revoked_at`` of this time or later; 0 if there is none
        """

    @abc.abstractmethod
    def count_events(self, since, before):
        """Count the events recorded in a time span.

        :param since: naive UTC datetime, start of the span
        :param before: naive UTC datetime, end of the span, excluded
        :returns: int
        """

    def read_matching(self, token):
        """Read the events that may revoke a token, from the database.

        Used for each token while the events are not kept in memory. Drivers
        should use indexes.

        :param token: dictionary of
            :func:`~keystone.models.revoke_model.build_token_values`; missing
            values are treated as None
        :returns: list of :class:`~keystone.models.revoke_model.RevokeEvent`
        """
        # Drivers also read values that the token lacks.
        blank = revoke_model.blank_token_data(None)
        return self.list_events(token={**blank, **token})


def engine():
    """The engine of the primary database."""
    root = (
        enginefacade
        if sql.core._TESTING_USE_GLOBAL_CONTEXT_MANAGER
        else sql.core._get_main_context_manager()
    )
    return root.writer.get_engine()


def connect():
    """Open a connection that takes no part in the caller's transaction."""
    # Not an enginefacade session: within an open transaction of the thread,
    # it could see an old snapshot of the table. And on the primary database,
    # since [database] slave_connection may lack a confirmed event.
    return engine().connect()


def table():
    """The table ``revocation_event``."""
    return sql.ModelBase.metadata.tables['revocation_event']


@contextlib.contextmanager
def _causal(connection):
    """Read everything committed by the Galera cluster, or fail."""
    usual = CONF.database.mysql_wsrep_sync_wait
    try:
        # A node that allows dirty reads does not wait.
        _set(connection, (usual or 0) | _WAIT_BEFORE_READ, 'OFF')
        yield
        _set(connection, 'DEFAULT' if usual is None else usual, 'DEFAULT')
    except BaseException:
        # Do not return a connection with changed settings to the pool.
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

    @functools.cached_property
    def _events(self):
        """Query of all events."""
        names = ('id', *revoke_model.REVOKE_KEYS)
        return sqlalchemy.select(*(table().c[name] for name in names))

    @contextlib.contextmanager
    def _reading(self):
        """A connection, whose reads are causal on Galera."""
        with connect() as connection:
            galera = self._is_galera(connection)
            with _causal(connection) if galera else contextlib.nullcontext():
                yield connection

    def read_events(self, since):
        query = self._events.where(table().c.revoked_at >= since)
        query = query.execution_options(yield_per=_BATCH)
        with self._reading() as connection:
            yield from connection.execute(query).partitions()

    def read_news(self, known, row_id=None):
        ids = table().c.id
        with self._reading() as connection:
            is_known = self._is_known(connection, known)
            wanted = ids >= known.last if is_known else ids > known.floor
            if row_id is not None:
                wanted = sqlalchemy.or_(wanted, ids == row_id)
            rows = connection.execute(self._events.where(wanted)).all()
            return News(self._is_galera(connection), rows, not is_known)

    def _is_known(self, connection, known):
        if known.count == known.last - known.floor:
            # There are no other ids in between.
            return True
        ids = table().c.id
        functions = sqlalchemy.func.count(ids), sqlalchemy.func.sum(ids)
        span = (ids > known.floor, ids <= known.last)
        query = sqlalchemy.select(*functions).where(*span)
        count, total = connection.execute(query).one()
        return (count, int(total or 0)) == (known.count, known.total)

    def id_before(self, moment):
        columns = table().c
        first = (
            sqlalchemy.select(sqlalchemy.func.min(columns.id))
            .where(columns.revoked_at >= moment)
            .scalar_subquery()
        )
        earlier = sqlalchemy.or_(first.is_(None), columns.id < first)
        query = sqlalchemy.select(sqlalchemy.func.max(columns.id))
        with self._reading() as connection:
            return connection.scalar(query.where(earlier)) or 0

    def count_events(self, since, before):
        columns = table().c
        query = sqlalchemy.select(sqlalchemy.func.count(columns.id)).where(
            columns.revoked_at >= since, columns.revoked_at < before
        )
        with connect() as connection:
            return connection.scalar(query)

    @functools.cached_property
    def _matching(self):
        """Query of the events that may revoke a token."""
        columns = table().c
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
            # One query per index, since databases do not combine them.
            queries.append(self._events.where(is_one_of[name], *rest))
            rest.append(columns[name].is_(None))
        queries.append(self._events.where(*rest))
        return sqlalchemy.union_all(*queries)

    @retry_read
    def read_matching(self, token):
        # None among the values matches nothing.
        values = {
            name: list(revoke_matching.CANDIDATES[name](token))
            for name in (*_INDEXED, *_OTHERS)
        }
        values['issued_at'] = token['issued_at'].replace(microsecond=0)
        with self._reading() as connection:
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
