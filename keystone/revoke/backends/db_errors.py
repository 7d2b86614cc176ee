# SPDX-License-Identifier: Apache-2.0

"""What a database error is about, as each database tells it."""

from oslo_db import exception as db_exception

# SQLSTATE of a transaction that conflicts with another one (serialization
# failure), and can be repeated.
_CONFLICT = '40001'

# Error of MariaDB for a lock that is not released in time, and of Galera for
# a node that has not applied in time what the cluster has committed.
_TIMEOUT = 1205


def driver_error(error):
    """The exception of the database driver that caused an error.

    :param error: an exception of oslo.db or SQLAlchemy
    :returns: an exception, or None
    """
    return getattr(getattr(error, 'inner_exception', error), 'orig', None)


def sqlstate(error):
    """The SQLSTATE of a database error.

    :param error: an exception of oslo.db or SQLAlchemy
    :returns: str; None if the database driver does not provide it
    """
    cause = driver_error(error)
    return getattr(cause, 'pgcode', None) or getattr(cause, 'sqlstate', None)


def error_number(error):
    """The number of an error of MariaDB or MySQL.

    :param error: an exception of oslo.db or SQLAlchemy
    :returns: int; something else for other databases
    """
    return next(iter(getattr(driver_error(error), 'args', ())), None)


def first_line(error):
    """The first line of a database error; the others have the statement."""
    return str(error).partition('\n')[0]


def is_conflict(error):
    """Whether a transaction failed for a conflict with another one.

    Also if it has waited for a lock for too long.
    """
    # oslo.db converts these errors of MariaDB, but no other.
    return (
        isinstance(error, db_exception.DBDeadlock)
        or sqlstate(error) == _CONFLICT
    )


def is_brief_conflict(error):
    """Whether a transaction failed for a conflict at once, not waiting."""
    return is_conflict(error) and error_number(error) != _TIMEOUT
