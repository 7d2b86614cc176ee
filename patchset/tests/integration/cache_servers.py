# SPDX-License-Identifier: Apache-2.0

"""Cache servers that fail, for tests: memcached and Redis."""

import signal
import socket
import time

from patchset import child
from patchset.services import memcached
from patchset.services import server


class Memcached(memcached.Memcached):
    backends = (
        'dogpile.cache.memcached',
        'dogpile.cache.pymemcache',
        'oslo_cache.memcache_pool',
    )
    megabytes = 4

    def options(self):
        """Options of ``[cache]``."""
        return {'memcache_servers': [self.address], 'memcache_dead_retry': 1}

    def lifetimes(self):
        """For each item, the seconds that it has left; None for ever."""
        now = time.time()
        expiries = [int(one.group(2)) for one in self._keys()]
        return [None if at < 0 else at - now for at in expiries]

    def fill(self, seconds):
        """Store large items for some time, so that others are evicted."""
        end = time.monotonic() + seconds
        value = b'x' * 1000
        number = 0
        with socket.create_connection(('127.0.0.1', self.port), 10) as one:
            while time.monotonic() < end:
                command = b'set filler%d 0 0 1000 noreply\r\n%s\r\n'
                for _ in range(100):
                    number += 1
                    one.sendall(command % (number, value))
                time.sleep(0.01)
        assert int(self.stats()['evictions']) > 0


class Redis(server.Server):
    """A Redis server that keeps nothing on disk."""

    name = 'redis'
    users = ('redis', 'nobody')
    stop_signal = signal.SIGKILL
    backends = ('dogpile.cache.redis',)

    def query(self, *words):
        """Lines of the answer to one command.

        :raises patchset.errors.Error: the server's own message
        """
        return self._output(self._ask(*words)).splitlines()

    def flush(self):
        """Forget everything that is stored."""
        self.query('FLUSHALL')

    def options(self):
        """Options of ``[cache]``."""
        return {'redis_server': self.address}

    def lifetimes(self):
        """For each item, the seconds that it has left; None for ever."""
        # Of nothing, redis-cli prints an empty line.
        keys = filter(None, self.query('KEYS', '*'))
        times = [int(self.query('PTTL', key)[0]) for key in keys]
        return [None if one < 0 else one / 1000 for one in times]

    def dump(self):
        """What it holds, for :meth:`load`."""
        self.query('SAVE')
        return (self.folder / 'dump.rdb').read_bytes()

    def replace(self, contents):
        self.kill()
        (self.folder / 'dump.rdb').write_bytes(contents)
        self.start_again()

    def start_again(self):
        super().start_again()
        # It would be there again after the next kill.
        (self.folder / 'dump.rdb').unlink(missing_ok=True)

    def fill(self, seconds):
        """Let it evict: its memory is full at once."""
        self.query('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
        self.query('CONFIG', 'SET', 'maxmemory', '1')
        time.sleep(seconds)
        self.query('CONFIG', 'SET', 'maxmemory', '0')

    def _ask(self, *words):
        return child.finish(
            [
                child.find('redis-cli'), '-h', '127.0.0.1', '-p', self.port,
                '-e', *words,
            ],
            errors='surrogateescape',
        )  # fmt: skip

    def _command(self):
        return [
            child.find('redis-server'), '--bind', '127.0.0.1',
            '--port', self.port, '--dir', self.folder,
            '--save', '', '--appendonly', 'no', '--daemonize', 'no',
        ]  # fmt: skip

    def _is_ready(self):
        done = self._ask('INFO', 'server')
        return f'process_id:{self.pid}' in done.stdout.splitlines()
