# SPDX-License-Identifier: Apache-2.0

"""How long cached values live in real cache servers."""

import time

import testtools

from patchset import child
from patchset.tests.integration import base
from patchset.tests.integration import cache_servers

# Seconds: of the section, and for those that have none.
TIMES = {'role': 42, 'identity': 600, 'catalog': 40 * 24 * 60 * 60}
DEFAULT = 77
MONTH = 30 * 24 * 60 * 60

IDS = 1  # that of the region


class LifetimeTestCase(testtools.TestCase):
    """Workers that cache values; see cache_worker.py."""

    def worker(self, backend, cache=None, **options):
        """Start a worker that ends with the test."""
        settings = {'enabled': True, 'backend': backend, **(cache or {})}
        worker = base.Worker('cache_worker.py', {'cache': settings, **options})
        self.addCleanup(worker.stop)
        return worker.ready()


class _Lifetimes(base.ServerMixin):
    """What holds for each kind of server; a subclass names it."""

    def filled(self, backend, **cache):
        """Seconds that the items have left after a value for each section."""
        self.server.flush()
        worker = self.worker(
            backend,
            {**self.server.options(), 'expiration_time': DEFAULT, **cache},
            **{name: {'cache_time': time} for name, time in TIMES.items()},
        )
        for section in (*TIMES, 'token'):
            self.assertIsNone(worker.ask('write', section))
            self.assertEqual(section, worker.ask('read', section))
            self.assertEqual(section, worker.ask('read', section))
        return self.server.lifetimes()

    def assertLeft(self, seconds, left):
        """Each of the items expires in about this number of seconds."""
        self.assertEqual(IDS, left.count(None), 'the ids')
        left = sorted(one for one in left if one is not None)
        self.assertEqual(len(seconds), len(left))
        for wanted, found in zip(sorted(seconds), left, strict=True):
            self.assertLessEqual(found, wanted + 1)
            self.assertLess(wanted - 30, found)

    def test_lifetimes(self):
        for backend in self.kind.backends:
            self.assertLeft(
                [*(min(one, self.longest) for one in TIMES.values()), DEFAULT],
                self.filled(backend),
            )

    def test_expiry_of_the_operator(self):
        for backend in self.kind.backends:
            self.assertLeft(
                [42, 300, 300, DEFAULT],
                self.filled(backend, backend_expiration_time=300),
            )

    def test_gone_when_its_time_is_over(self):
        for backend in self.kind.backends:
            self.server.flush()
            worker = self.worker(
                backend,
                # No other process compares clocks for this one.
                self.server.options(),
                role={'cache_time': 5},
            )
            worker.ask('write', 'old')
            self.assertEqual('old', worker.ask('read', 'role'))
            self.assertEqual('old', worker.ask('read', 'identity'))
            self.assertEqual(IDS + 2, len(self.server.lifetimes()))
            worker.ask('write', 'new')
            child.wait_until(
                lambda: len(self.server.lifetimes()) == IDS + 1,
                30,
                lambda: self.failureException(self.server.lifetimes()),
            )
            self.assertEqual('new', worker.ask('read', 'role'))
            self.assertEqual('old', worker.ask('read', 'identity'))

    def test_dropped_by_one_read_by_the_other(self):
        for backend in self.kind.backends:
            self.server.flush()
            one, other = (
                self.worker(backend, self.server.options()) for _ in range(2)
            )
            one.ask('write', 'old')
            other.ask('write', 'new')
            self.assertEqual('old', one.ask('read', 'role'))
            self.assertEqual('old', other.ask('read', 'role'))
            self.assertIsNone(one.ask('drop', 'role'))
            self.assertEqual('new', other.ask('read', 'role'))
            self.assertEqual('new', one.ask('read', 'role'))
            self.assertIsNone(other.ask('invalidate'))
            self.assertEqual('old', one.ask('read', 'role'))


class MemcachedLifetimeTests(_Lifetimes, LifetimeTestCase):
    kind = cache_servers.Memcached
    longest = MONTH


class RedisLifetimeTests(_Lifetimes, LifetimeTestCase):
    kind = cache_servers.Redis
    longest = max(TIMES.values())


class InProcessLifetimeTests(LifetimeTestCase):
    def test_gone_when_its_time_is_over(self):
        for backend in (
            'dogpile.cache.memory',
            'dogpile.cache.memory_pickle',
            'oslo_cache.dict',
        ):
            worker = self.worker(backend, role={'cache_time': 1})
            worker.ask('write', 'old')
            self.assertEqual('old', worker.ask('read', 'role'))
            self.assertEqual('old', worker.ask('read', 'identity'))
            worker.ask('write', 'new')
            time.sleep(1.1)
            self.assertEqual('new', worker.ask('read', 'role'))
            self.assertEqual('old', worker.ask('read', 'identity'))
