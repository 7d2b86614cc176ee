# SPDX-License-Identifier: Apache-2.0

"""Worker processes of Keystone's managers, and their servers, for tests."""

import concurrent.futures
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time
import uuid

import sqlalchemy
import testtools

from patchset import assemble
from patchset import pins
from patchset.services import memcached

BOUND = 2  # seconds, for each worker
_HERE = pathlib.Path(__file__).parent


def tree():
    """Folder of the patched Keystone that the tests run."""
    return assemble.ensure(pins.load(pins.newest()))


class ServerMixin:
    """A server for all tests of a class.

    ``kind`` is the server's class, and ``settings`` what it is made with.
    """

    kind = None
    settings = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(
            cls.kind(settings=cls.settings) if cls.settings else cls.kind()
        )


class DatabaseMixin(ServerMixin):
    """A database for each test, and a memcached for all of a class."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cache = cls.enterClassContext(memcached.Memcached())

    def setUp(self):
        super().setUp()
        self.url = self.server.url(f'k{uuid.uuid4().hex}')
        self.engine = self.connect(self.url)
        self.cache.flush()


class Worker:
    """A process of its own.

    :param script: name of the script, beside this module
    :param options: {section: {option: value}}
    """

    def __init__(self, script, options):
        self._process = subprocess.Popen(
            [sys.executable, '-P', '-Wignore', _HERE / script],
            env={**os.environ, 'PYTHONPATH': str(tree())},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._send(options)

    def _send(self, message):
        self._process.stdin.write(json.dumps(message) + '\n')
        self._process.stdin.flush()

    def answer(self):
        """Wait for the answer to the last command."""
        return json.loads(self._process.stdout.readline())

    def ready(self):
        """Wait until it takes commands."""
        assert self.answer() == 'ready'
        return self

    def tell(self, command, argument=None):
        """Send a command, and do not wait for its answer."""
        self._send({command: argument})

    def ask(self, command, argument=None):
        """Its answer to one command."""
        self.tell(command, argument)
        return self.answer()

    def check(self, **values):
        return self.ask('check', values)

    def revoke(self, **attributes):
        return self.ask('revoke', attributes)

    def is_alive(self):
        return self._process.poll() is None

    def kill(self):
        """End it in the middle of what it does."""
        self._process.kill()

    def stop(self):
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        self._process.wait(60)
        self._process.stdout.close()


class WorkerTestCase(testtools.TestCase):
    """Workers that revoke and check tokens, by revoke_worker.py."""

    def launch(
        self, database, cache=None, backend='dogpile.cache.memcached', **revoke
    ):
        """Launch a worker, which is stopped at the end of the test."""
        options = {
            'database': {'connection': database, 'max_retries': 1},
            'cache': {'enabled': True, 'backend': 'dogpile.cache.memory'},
            'revoke': {'sync_interval': BOUND, **revoke},
        }
        if cache:
            options['cache'].update(
                backend=backend,
                memcache_servers=[cache],
                memcache_dead_retry=1,
            )
        worker = Worker('revoke_worker.py', options)
        self.addCleanup(worker.stop)
        return worker

    def worker(self, *args, **kwargs):
        """Start a worker that ends with the test, and not before."""
        worker = self.launch(*args, **kwargs)
        self.addCleanup(lambda: self.assertTrue(worker.is_alive()))
        return worker.ready()

    def workers(self, number=2, **revoke):
        """Start workers that share a cache; each has read the events."""
        made = [
            self.worker(self.url, self.cache.address, **revoke)
            for _ in range(number)
        ]
        # The table is there; read it, so that each has a replica of it.
        for worker in made:
            self.assertValid(worker, user_id='nobody')
        return made

    def connect(self, url):
        """A database engine for the time of the test."""
        engine = sqlalchemy.create_engine(url)
        self.addCleanup(engine.dispose)
        return engine

    def assertRevoked(self, worker, **values):
        self.assertEqual('revoked', worker.check(**values), values)

    def assertValid(self, worker, **values):
        self.assertEqual('valid', worker.check(**values), values)

    def eventually(self, answer, worker, patience, **values):
        """Check until the answer is so.

        :param patience: seconds; a check that begins later must have it
        """
        began = time.monotonic()
        while True:
            late = time.monotonic() - began > patience
            given = worker.check(**values)
            if given == answer:
                return
            self.assertFalse(late, f'{values}: {given}')
            time.sleep(0.02)

    def row(self, seconds=0, **values):
        """Values of a row whose writer's clock is so far ahead of ours."""
        now = datetime.datetime.now(datetime.UTC)
        moment = now.replace(microsecond=0, tzinfo=None)
        values['issued_before'] = moment
        values['revoked_at'] = moment + datetime.timedelta(seconds=seconds)
        return values

    def insert(self, connection, *rows):
        """Write rows, dictionaries with the same keys."""
        names = ', '.join(rows[0])
        marks = ', '.join(f':{name}' for name in rows[0])
        connection.execute(
            sqlalchemy.text(
                f'INSERT INTO revocation_event ({names}) VALUES ({marks})'
            ),
            list(rows),
        )

    def write(self, engine, *rows):
        """Write rows, as an operator does, without a stamp."""
        with engine.begin() as connection:
            self.insert(connection, *rows)

    def count(self, connection, condition='true'):
        """Number of rows for which a condition holds."""
        return connection.exec_driver_sql(
            f'SELECT count(*) FROM revocation_event WHERE {condition}'
        ).scalar()

    def run_rounds(self, one, other, rounds, attribute='user_id'):
        """Revoke on one worker, and check on the other, by turns."""
        for number in range(rounds):
            values = {attribute: f'round {number}'}
            self.assertValid(other, **values)
            self.assertIsNone(one.revoke(**values))
            self.assertRevoked(other, **values)
            one, other = other, one

    def run_writers(self, writers, watchers, count):
        """Revoke on several workers at once; check each on the others.

        :param count: number of revocations of each writer
        """
        done = []

        def revoke(name):
            for number in range(count):
                user_id = f'{name} {number}'
                failure = writers[name].revoke(user_id=user_id)
                done.append((failure, user_id))

        checked = 0
        with concurrent.futures.ThreadPoolExecutor() as pool:
            runs = [pool.submit(revoke, name) for name in range(len(writers))]
            while checked < len(done) or not all(run.done() for run in runs):
                if checked < len(done):
                    failure, user_id = done[checked]
                    self.assertIsNone(failure)
                    # It was answered before these checks begin.
                    for watcher in watchers:
                        self.assertRevoked(watcher, user_id=user_id)
                    checked += 1
                self.assertValid(watchers[0], user_id='nobody')
        self.assertEqual(len(writers) * count, checked)
        for watcher in watchers:
            self.assertValid(watcher, user_id='nobody')
