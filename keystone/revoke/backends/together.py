# SPDX-License-Identifier: Apache-2.0

"""Recording several revocation events in one transaction.

If the ``[revoke] driver`` implements :class:`RevokeTogether`, it records the
events of a revocation in one transaction. Otherwise, it receives them one by
one, as before.
"""

import abc

from keystone.common import sql
from keystone.models import revoke_model
from keystone.revoke.backends import incremental


class RevokeTogether(abc.ABC):
    """Interface of drivers that can record several events at once."""

    @abc.abstractmethod
    def revoke_together(self, events):
        """Record events atomically.

        :param events: sequence of
            :class:`~keystone.models.revoke_model.RevokeEvent`
        :returns: id of one of the rows, or None if unknown
        :raises oslo_db.exception.DBError: the database fails
        """


class SQLRevokeTogether(RevokeTogether):
    """Records events in the table ``revocation_event``."""

    @incremental.retry_write
    def revoke_together(self, events):
        rows = [
            {name: getattr(event, name) for name in revoke_model.REVOKE_KEYS}
            for event in events
        ]
        table = incremental.table()
        with sql.session_for_write() as session:
            connection = session.connection()
            if connection.dialect.insert_executemany_returning:
                insert = table.insert().returning(table.c.id)
                return connection.execute(insert, rows).scalars().all()[0]
            *others, last = rows
            if others:
                connection.execute(table.insert(), others)
            result = connection.execute(table.insert(), last)
            return result.inserted_primary_key[0]


def record(driver, events):
    """Record events, in one transaction if the driver supports it.

    :param driver: the ``[revoke] driver``
    :param events: sequence of
        :class:`~keystone.models.revoke_model.RevokeEvent`
    :returns: iterator over (row id or None, an event) after each commit; this
        event and those before it, or all of them, are then recorded
    """
    if len(events) > 1 and isinstance(driver, RevokeTogether):
        yield driver.revoke_together(events), events[0]
        return
    for event in events:
        yield driver.revoke(event), event
