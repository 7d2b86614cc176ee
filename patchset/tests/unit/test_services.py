# SPDX-License-Identifier: Apache-2.0

"""The private servers start, serve, and leave nothing behind."""

import contextlib
import http.server
import os
import pathlib
import signal
import subprocess
import sys
import threading
import urllib.request

import fixtures
import memcache
import sqlalchemy
import testtools

from patchset import errors
from patchset.services import haproxy
from patchset.services import mariadb
from patchset.services import memcached
from patchset.services import postgresql
from patchset.services import server
from patchset.services import slapd
from patchset.tests.integration import cache_servers


class _Checks:
    """What holds for each kind of server; a subclass names it."""

    kind = None

    def test_nothing_is_left_after_an_error(self):
        one = self.kind()
        with contextlib.suppress(ZeroDivisionError), one:
            pid = one.pid
            self.assertTrue(one.folder.is_dir())
            raise ZeroDivisionError
        self.assertFalse(one.folder.exists())
        self.assertRaises(ProcessLookupError, os.kill, pid, 0)

    def test_nothing_is_left_after_sigterm(self):
        module, name = self.kind.__module__, self.kind.__name__
        script = (
            'import signal, sys\n'
            f'from {module} import {name}\n'
            'signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))\n'
            f'with {name}() as one:\n'
            '    print(one.pid, one.folder, flush=True)\n'
            '    signal.pause()\n'
        )
        with subprocess.Popen(
            [sys.executable, '-c', script], stdout=subprocess.PIPE, text=True
        ) as program:
            pid, folder = program.stdout.readline().split()
            program.send_signal(signal.SIGTERM)
        self.assertEqual(3, program.returncode)
        self.assertFalse(pathlib.Path(folder).exists())
        self.assertRaises(ProcessLookupError, os.kill, int(pid), 0)

    def test_another_port_where_the_first_is_taken(self):
        with self.kind() as first:
            free = server.free_port
            ports = iter([first.port])
            # The port was free when it was looked for: a race, lost.
            self.useFixture(
                fixtures.MonkeyPatch(
                    'patchset.services.server.free_port',
                    lambda: next(ports, None) or free(),
                )
            )
            with self.kind() as second:
                self.assertNotEqual(first.port, second.port)
                self.assertNotEqual(first.pid, second.pid)

    def test_killed_and_there_again(self):
        with self.kind() as one:
            port, pid = one.port, one.pid
            one.kill()
            self.assertFalse(one.is_running)
            one.start_again()
            self.assertTrue(one.is_running)
            self.assertEqual(port, one.port)
            one.restart()
            self.assertEqual(port, one.port)
            self.assertNotEqual(pid, one.pid)

    def test_a_failure_names_the_server(self):
        folder = self.useFixture(fixtures.TempDir()).path
        os.chmod(folder, 0o755)

        class Broken(self.kind):
            def _command(self):
                return ['sh', '-c', 'echo no such luck; exit 1']

        error = self.assertRaises(errors.Error, Broken(folder).__enter__)
        self.assertIn('did not start: no such luck', str(error))
        self.assertEqual([], os.listdir(folder))


class _DatabaseChecks(_Checks):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.one = cls.enterClassContext(cls.kind())

    def run_sql(self, url, *statements):
        """Rows of the last of the statements, by way of SQLAlchemy."""
        engine = sqlalchemy.create_engine(url)
        self.addCleanup(engine.dispose)
        with engine.begin() as connection:
            for statement in statements:
                result = connection.execute(sqlalchemy.text(statement))
            return list(result.scalars())

    def test_a_server_of_the_right_kind(self):
        version = self.run_sql(self.one.admin_url, 'SELECT version()')
        self.assertIn(self.word, *version)

    def test_a_database_is_made_once_and_kept(self):
        for database in ('first', 'second', 'first'):
            words = self.run_sql(
                self.one.url(database),
                'CREATE TABLE IF NOT EXISTS t (word VARCHAR(9))',
                "INSERT INTO t VALUES ('Grüße')",
                'SELECT word FROM t',
            )
        self.assertEqual(['Grüße', 'Grüße'], words)
        self.assertIn('@127.0.0.1:1/first', self.one.url('first', 1))

    def test_query(self):
        self.assertEqual([['1', 'a']], self.one.query("SELECT 1, 'a'"))
        self.assertRaises(errors.Error, self.one.query, 'SELECT nonsense')

    def test_nobody_gets_in_without_the_password(self):
        url = sqlalchemy.make_url(self.one.admin_url).set(password='guess')
        self.assertRaises(
            sqlalchemy.exc.OperationalError, self.run_sql, url, 'SELECT 1'
        )

    def test_durable(self):
        self.assertNotEqual(self.synchronous, self.one.query(self.setting))
        with self.kind(durable=True) as one:
            self.assertEqual(self.synchronous, one.query(self.setting))


class MariaDBTestCase(_DatabaseChecks, testtools.TestCase):
    kind = mariadb.MariaDB
    word = 'MariaDB'
    # As text: @@innodb_doublewrite itself is a number before MariaDB 11.
    setting = (
        "SHOW VARIABLES WHERE variable_name IN ('innodb_doublewrite', "
        "'innodb_flush_log_at_trx_commit')"
    )
    synchronous = [
        ['innodb_doublewrite', 'ON'],
        ['innodb_flush_log_at_trx_commit', '1'],
    ]


class PostgreSQLTestCase(_DatabaseChecks, testtools.TestCase):
    kind = postgresql.PostgreSQL
    word = 'PostgreSQL'
    setting = "SELECT current_setting('fsync')"
    synchronous = [['on']]


class MemcachedTestCase(_Checks, testtools.TestCase):
    kind = memcached.Memcached

    def test_stats_count_and_flush_forgets(self):
        with self.kind() as one:
            client = memcache.Client([one.address])
            client.set('a', 'b')
            self.assertEqual('b', client.get('a'))
            self.assertEqual('1', one.stats()['cmd_set'])
            one.flush()
            self.assertIsNone(client.get('a'))
            client.disconnect_all()

    def test_url(self):
        with self.kind() as one:
            self.assertEqual(f'memcached://127.0.0.1:{one.port}', one.url)


class SlapdTestCase(_Checks, testtools.TestCase):
    kind = slapd.Slapd

    def test_changes(self):
        unit = slapd.subtree('people')
        person = f'dn: uid=a,{unit}\nobjectClass: account'
        with self.kind() as one:
            self.assertRaises(errors.Error, one.change, person)
            one.reset('people')
            one.change(person)
            found = self.assertRaises(errors.Error, one.change, person)
            self.assertIn('Already exists', str(found))
            one.reset('people')
            one.change(person)


class RedisTestCase(_Checks, testtools.TestCase):
    kind = cache_servers.Redis

    def test_query_and_flush(self):
        with self.kind() as one:
            self.assertEqual(['OK'], one.query('SET', 'a', 'b'))
            self.assertEqual(['b'], one.query('GET', 'a'))
            one.flush()
            self.assertEqual(['0'], one.query('DBSIZE'))
            self.assertRaises(errors.Error, one.query, 'NONSENSE')


class _Named(http.server.BaseHTTPRequestHandler):
    """Answers with the name of its server."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.server.its_name.encode())

    def log_message(self, *_):
        """Say nothing."""


class HAProxyTestCase(_Checks, testtools.TestCase):
    kind = haproxy.HAProxy

    def web(self, name):
        """Start a web server; its port."""
        one = http.server.ThreadingHTTPServer(('127.0.0.1', 0), _Named)
        one.its_name = name
        thread = threading.Thread(target=one.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(one.server_close)
        self.addCleanup(one.shutdown)
        return one.server_address[1]

    def ask(self, one, times=4):
        """Who answered, of several requests."""
        url = f'http://127.0.0.1:{one.port}/'
        return [
            urllib.request.urlopen(url, timeout=10).read().decode()
            for _ in range(times)
        ]

    def test_in_turn_drained_and_reloaded(self):
        servers = {name: self.web(name) for name in ('a', 'b')}
        servers['gone'] = server.free_port()
        with self.kind(servers=servers) as one:
            one.wait_for({'a': 'UP', 'b': 'UP', 'gone': 'DOWN'})
            answers = self.ask(one)
            self.assertEqual({'a', 'b'}, set(answers))
            self.assertEqual(answers[:2], answers[2:])
            with one.drained('a'):
                self.assertEqual('DRAIN', haproxy.states(one.runtime)['a'])
                self.assertEqual(['b'] * 4, self.ask(one))
            pid = one.pid
            one.reload()
            self.assertEqual(pid, one.pid)
            self.assertEqual({'a', 'b'}, set(self.ask(one)))
            page = urllib.request.urlopen(one.statistics, timeout=10).read()
            self.assertIn(b'Statistics Report', page)

    def test_unknown_server(self):
        with self.kind() as one:
            error = self.assertRaises(
                errors.Error, haproxy.set_state, one.runtime, 'nobody', 'drain'
            )
        self.assertIn('No such server', str(error))
        self.assertRaises(errors.Error, haproxy.states, one.runtime)
