# SPDX-License-Identifier: Apache-2.0

"""Database operations of the experiments, in the SQL of each database."""

import re

from bench import distributed_galera
from patchset import child
from patchset.services import galera
from patchset.services import mariadb
from patchset.services import postgresql


class MariaDB:
    """MariaDB, one server for both sides."""

    name = 'mariadb'

    def server(self, folder, delayed=False):
        """A server that writes to disk at each commit.

        :param delayed: whether there will be a delay
        """
        return mariadb.MariaDB(folder, durable=True)

    def program(self):
        """Path of the server's program."""
        return child.find('mariadbd')

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

    def locks(self, server):
        """Lock statistics since the start of the server.

        :returns: dict with ``waits`` and ``deadlocks``, and the ``longest``
            wait as text
        """
        status = self._status(server, 'Innodb')
        return {
            'waits': int(status['Innodb_row_lock_waits']),
            'deadlocks': int(status['Innodb_deadlocks']),
            'longest': f'{status["Innodb_row_lock_time_max"]} ms',
        }

    def statements(self, server):
        """Number of statements since the start of the server.

        :returns: dict with ``reads`` and ``writes``
        """
        status = self._status(server, 'Com')
        writes = (
            'insert', 'insert_select', 'update', 'update_multi', 'delete',
            'delete_multi', 'replace', 'replace_select',
        )  # fmt: skip
        return {
            'reads': int(status['Com_select']),
            'writes': sum(int(status[f'Com_{name}']) for name in writes),
        }

    def _status(self, server, prefix):
        return dict(server.query(f"SHOW GLOBAL STATUS LIKE '{prefix}%'"))


class Galera(MariaDB):
    """Three nodes of MariaDB; both sides use the first."""

    name = 'galera'

    def server(self, folder, delayed=False):
        """A cluster, whose nodes can have a delay between them."""
        kind = distributed_galera.Cluster if delayed else galera.Cluster
        return kind(3, folder)


class PostgreSQL:
    """PostgreSQL, one server for both sides."""

    name = 'postgresql'

    def server(self, folder, delayed=False):
        """A server that writes to disk at each commit."""
        return postgresql.PostgreSQL(
            folder,
            durable=True,
            settings={
                'deadlock_timeout': '50ms',
                'log_lock_waits': 'on',
                'shared_preload_libraries': 'pg_stat_statements',
            },
        )

    def program(self):
        """Path of the server's program."""
        return postgresql.program('postgres')

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

    def locks(self, server):
        """Lock statistics; see :class:`MariaDB`.

        Only waits of at least 50 ms are logged, and counted.
        """
        ((deadlocks,),) = server.query(
            'SELECT sum(deadlocks) FROM pg_stat_database'
        )
        waits = re.findall(r'still waiting for', server.log.read_text())
        longest = 'over 50 ms' if waits else 'under 50 ms'
        return {
            'waits': len(waits),
            'deadlocks': int(deadlocks),
            'longest': longest,
        }

    def statements(self, server):
        """Number of statements; see :class:`MariaDB`."""
        server.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements')
        verb = "lower(substring(ltrim(query) from '^[A-Za-z]+'))"
        rows = server.query(
            f'SELECT {verb}, sum(calls) FROM pg_stat_statements GROUP BY 1'
        )
        calls = {name: int(number) for name, number in rows}
        writes = ('insert', 'update', 'delete')
        return {
            'reads': calls.get('select', 0),
            'writes': sum(calls.get(name, 0) for name in writes),
        }


ALL = {one.name: one for one in (MariaDB(), PostgreSQL(), Galera())}
