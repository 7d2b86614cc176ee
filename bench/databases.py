# SPDX-License-Identifier: Apache-2.0

"""Database operations of the experiments, in the SQL of each database."""

import functools
import re

from patchset import child
from patchset.services import galera
from patchset.services import mariadb
from patchset.services import postgresql


class _MariaDB:
    """The operations of a server or cluster of MariaDB."""

    #: returns the path of the server's program
    program = staticmethod(functools.partial(child.find, 'mariadbd'))

    def empty(self, newest):
        """Statements that empty the table; row ids continue at ``newest``."""
        return [
            'TRUNCATE revocation_event',
            f'ALTER TABLE revocation_event AUTO_INCREMENT = {newest + 1}',
        ]

    def numbers(self, first, last):
        """Table with the column ``seq``, from ``first`` to ``last``."""
        return f'seq_{first}_to_{last}'

    def timestamp(self, seconds, step=0):
        """Expression for the time in ``seconds + seq * step`` seconds."""
        return (
            f'UTC_TIMESTAMP() + INTERVAL {seconds} SECOND '
            f'+ INTERVAL FLOOR(seq * {step}) SECOND'
        )

    def locks(self):
        """Lock statistics since the start of the server.

        :returns: dict with ``waits`` and ``deadlocks``, and the ``longest``
            wait as text
        """
        status = self._status('Innodb')
        return {
            'waits': int(status['Innodb_row_lock_waits']),
            'deadlocks': int(status['Innodb_deadlocks']),
            'longest': f'{status["Innodb_row_lock_time_max"]} ms',
        }

    def statements(self):
        """Number of statements since the start of the server.

        :returns: dict with ``reads`` and ``writes``
        """
        status = self._status('Com')
        writes = (
            'insert', 'insert_select', 'update', 'update_multi', 'delete',
            'delete_multi', 'replace', 'replace_select',
        )  # fmt: skip
        return {
            'reads': int(status['Com_select']),
            'writes': sum(int(status[f'Com_{name}']) for name in writes),
        }

    def _status(self, prefix):
        return dict(self.query(f"SHOW GLOBAL STATUS LIKE '{prefix}%'"))


class MariaDB(_MariaDB, mariadb.MariaDB):
    """One server, which writes to disk at each commit.

    :param folder: parent of the temporary folder
    :param delayed: whether there will be a delay
    """

    def __init__(self, folder=None, delayed=False):
        super().__init__(folder, durable=True)


class Galera(_MariaDB, galera.Cluster):
    """Three nodes of MariaDB; both sides use the first."""

    def __init__(self, folder=None, delayed=False):
        share = (lambda *_: 1) if delayed else None
        super().__init__(3, folder, share=share)


class PostgreSQL(postgresql.PostgreSQL):
    """One server; see :class:`MariaDB`."""

    program = staticmethod(functools.partial(postgresql.program, 'postgres'))

    def __init__(self, folder=None, delayed=False):
        settings = {
            'deadlock_timeout': '50ms',
            'log_lock_waits': 'on',
            'shared_preload_libraries': 'pg_stat_statements',
        }
        super().__init__(folder, durable=True, settings=settings)

    def empty(self, newest):
        """Statements that empty the table; row ids continue."""
        return ['TRUNCATE revocation_event']

    def numbers(self, first, last):
        """Table of numbers; see :class:`MariaDB`."""
        return f'generate_series({first}, {last}) AS seq'

    def timestamp(self, seconds, step=0):
        """Expression for a time; see :class:`MariaDB`."""
        return (
            "date_trunc('second', timezone('utc', now())) "
            f"+ ({seconds} + floor(seq * {step})) * interval '1 second'"
        )

    def locks(self):
        """Lock statistics; see :class:`MariaDB`.

        Only waits of at least 50 ms are logged, and counted.
        """
        ((deadlocks,),) = self.query(
            'SELECT sum(deadlocks) FROM pg_stat_database'
        )
        waits = re.findall(r'still waiting for', self.log.read_text())
        longest = 'over 50 ms' if waits else 'under 50 ms'
        return {
            'waits': len(waits),
            'deadlocks': int(deadlocks),
            'longest': longest,
        }

    def statements(self):
        """Number of statements; see :class:`MariaDB`."""
        self.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements')
        verb = "lower(substring(ltrim(query) from '^[A-Za-z]+'))"
        rows = self.query(
            f'SELECT {verb}, sum(calls) FROM pg_stat_statements GROUP BY 1'
        )
        calls = {name: int(number) for name, number in rows}
        writes = ('insert', 'update', 'delete')
        return {
            'reads': calls.get('select', 0),
            'writes': sum(calls.get(name, 0) for name in writes),
        }


ALL = {'mariadb': MariaDB, 'postgresql': PostgreSQL, 'galera': Galera}
