# SPDX-License-Identifier: Apache-2.0

"""Worker processes of Keystone's revocation manager, for tests."""

import datetime
import json
import os
import subprocess
import sys
import time

import sqlalchemy
import testtools

from patchset import pins
from patchset import trees
from patchset.inside import __path__ as _inside

BOUND = 2  # seconds, for each worker


def tree():
    """Folder of the patched Keystone that the tests run."""
    return trees.get(pins.load(pins.newest()))


class ServerMixin:
    """A server for all tests of a class; ``kind`` is the server's class."""

    kind = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.kind()
        cls.server.start()
        cls.addClassCleanup(cls.server.stop)


class Worker:
    """A process of its own; see inside/revoke_worker.py."""

    def __init__(
        self, database, cache=None, backend='dogpile.cache.memcached', **revoke
    ):
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
        self._process = subprocess.Popen(
            [
                sys.executable, '-P', '-Wignore',
                os.path.join(*_inside, 'revoke_worker.py'),
            ],
            env={**os.environ, 'PYTHONPATH': str(tree())},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )  # fmt: skip
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
    def worker(self, *args, **kwargs):
        """Start a worker that ends with the test."""
        worker = Worker(*args, **kwargs)
        self.addCleanup(worker.stop)
        self.addCleanup(lambda: self.assertTrue(worker.is_alive()))
        return worker.ready()

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
