# SPDX-License-Identifier: Apache-2.0

"""Connections to cache servers."""

import socket
import threading
import time
import zlib

from dogpile.cache import region as dogpile_region
import fixtures
import redis

from keystone.common.cache import stores
from keystone.tests import unit
from keystone.tests.unit.cache import base


class LockTests(base.CacheTestCase):
    """Locks of the servers, which other processes may never release."""

    def test_not_used(self):
        self.configure(
            self.backend, backend_argument=['distributed_lock:True']
        )
        self.assertEqual('old', self.process().read())
        self.assertNotIn('delete', self.server.commands)


class ConnectionTests(base.CacheTestCase):
    """Connections that the server closes."""

    def setUp(self):
        super().setUp()
        self.store = stores.of(self.process().region)

    def connect(self, number):
        """Let threads store a value at the same time."""
        threads = [
            threading.Thread(target=self.store.set, args=('key', b'a', 0))
            for _ in range(number)
        ]
        self.server.commands.clear()
        with self.server.lock:
            for thread in threads:
                thread.start()
            while len(self.server.commands) < number:
                time.sleep(0.01)
        for thread in threads:
            thread.join()

    def test_all(self):
        self.connect(3)
        self.server.stop()
        self.server.start()
        for _ in range(3):
            self.assertEqual([b'a'], self.store.get_many(['key']))

    def test_address_family(self):
        self.config_fixture.config(
            group='cache', memcache_servers=[f'inet:{self.server.address}']
        )
        store = stores.of(self.process().region)
        store.set('key', b'a', 0)
        self.assertEqual([b'a'], store.get_many(['key']))

    def test_deletion_is_repeated(self):
        self.connect(2)
        self.server.stop()
        self.server.start()
        self.store.delete('key')
        self.assertEqual({}, self.server.items)

    def test_other_writes_are_not(self):
        self.server.answers = False
        for name, *args in (
            ('add', b'a', 0),
            ('set', b'a', 0),
            ('replace', b'a', b'b', 0),
        ):
            self.assertRaises(
                stores.Unavailable, getattr(self.store, name), 'key', *args
            )
            self.now += base.PAUSE
        self.assertEqual(['add', 'set', 'gets', 'cas'], self.server.commands)


class ReadTests(base.CacheTestCase):
    """Reads with a connection that is open already."""

    def setUp(self):
        super().setUp()
        self.store = stores.of(self.process().region)
        self.put('key', b'a')
        self.assertEqual([b'a'], self.store.get_many(['key']))

    def put(self, key, value, flags=1):
        self.server.items[key] = (flags, 0, value, 1)

    def test_many(self):
        values = {str(n): n * b'END\r\n' for n in range(1000)}
        for key, value in values.items():
            self.put(key, value)
        keys = ['none', *values, 'key', 'key']
        self.assertEqual(
            [None, *values.values(), b'a', b'a'], self.store.get_many(keys)
        )
        self.assertEqual([], self.store.get_many([]))

    def test_compressed(self):
        self.put('key', zlib.compress(b'a'), flags=9)
        self.assertEqual([b'a'], self.store.get_many(['key']))

    def test_key_with_a_space(self):
        for key in ('', 'a b', 'a\r\nflush_all', 'a\t'):
            for keys in ([key], ['', key]):
                self.assertRaises(
                    stores.Unavailable, self.store.get_many, keys
                )
                # It is no failure of the server. This connects again.
                self.assertEqual([b'a'], self.store.get_many(['key']))
        self.assertNotIn('flush_all', self.server.commands)

    def test_error(self):
        self.server.reads = b'SERVER_ERROR out of memory\r\n'
        self.assertRaises(stores.Unavailable, self.store.get_many, ['key'])
        self.server.reads = None
        self.assertEqual([b'a'], self.store.get_many(['key']))

    def test_incomplete(self):
        for answer in (b'', b'VALUE key 1 2\r\na', b'VALUE key 1 1\r\na\r\n'):
            self.server.reads = answer
            self.assertRaises(stores.Unavailable, self.store.get_many, ['key'])
            self.now += base.PAUSE
            self.server.reads = None
            self.assertEqual([b'a'], self.store.get_many(['key']))

    def test_unknown(self):
        for answer in (
            b'VALUE key\r\n',
            b'VALUE key 1 -4\r\n',
            # The next value would begin where this one does.
            b'VALUE key 1 -19\r\n',
            b'HD\r\n',
        ):
            self.server.reads = answer
            self.assertRaises(stores.Unavailable, self.store.get_many, ['key'])
            # Not a failure that has passed: the server is bypassed.
            self.server.reads = None
            self.assertRaises(stores.Unavailable, self.store.get_many, ['key'])
            self.now += base.PAUSE
            self.assertEqual([b'a'], self.store.get_many(['key']))


class _RedisClient:
    """A client of a server of its own."""

    def __init__(self):
        self.values = {}
        self.error = None

    def get_retry(self):
        return None

    def set(self, key, stored, ex):
        if self.error is not None:
            raise self.error()
        self.values[key] = stored

    def mget(self, keys):
        return [self.values.get(key) for key in keys]


class RedisTests(unit.BaseTestCase):
    def test_replica_is_not_read(self):
        region = dogpile_region.make_region().configure(
            'dogpile.cache.redis_sentinel',
            arguments={
                'sentinels': [('127.0.0.1', 1)],
                'service_name': 'primary',
            },
        )
        # The replica is behind.
        region.backend.writer_client = _RedisClient()
        region.backend.reader_client = _RedisClient()
        store = stores.of(region)
        store.set('key', b'a', 0)
        self.assertEqual([b'a'], store.get_many(['key']))

    def fail(self, *errors):
        """The store of a server whose writes have failed."""
        region = dogpile_region.make_region().configure('dogpile.cache.redis')
        region.backend.writer_client = client = _RedisClient()
        store = stores.of(region)
        store.set('key', b'a', 0)
        for client.error in errors:
            self.assertRaises(stores.Unavailable, store.set, 'key', b'b', 0)
        return store

    def test_server_that_refuses_writes(self):
        """Such as a full one; its values are read nevertheless."""
        log = self.useFixture(fixtures.FakeLogger(format='%(message)s'))
        errors = redis.exceptions
        refusals = errors.OutOfMemoryError, errors.NoPermissionError
        store = self.fail(*refusals, errors.ReadOnlyError, *refusals)
        self.assertEqual([b'a'], store.get_many(['key']))
        self.assertEqual(
            'Error of the cache: OutOfMemoryError.\n'
            'Error of the cache: NoPermissionError.\n'
            'Error of the cache: ReadOnlyError.\n',
            log.output,
        )

    def test_server_that_fails(self):
        store = self.fail(redis.exceptions.ConnectionError)
        self.assertRaises(stores.Unavailable, store.get_many, ['key'])

    def test_server_that_does_not_respond(self):
        """A command is sent once."""
        server = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(server.close)
        region = dogpile_region.make_region().configure(
            'dogpile.cache.redis',
            arguments={
                'host': '127.0.0.1',
                'port': server.getsockname()[1],
                'socket_timeout': 0.1,
            },
        )
        self.assertRaises(
            stores.Unavailable, stores.of(region).set, 'key', b'a', 0
        )
        server.settimeout(0)
        server.accept()[0].close()
        self.assertRaises(BlockingIOError, server.accept)


class FileTests(base.CacheTestCase):
    """A backend that only takes bytes, and has no compare and swap."""

    def setUp(self):
        super().setUp()
        name = self.useFixture(fixtures.TempDir()).join('cache')
        self.configure(
            'dogpile.cache.dbm', backend_argument=[f'filename:{name}']
        )

    def test_value_is_stored_and_dropped(self):
        one, other = self.process(), self.process()
        self.assertEqual('old', one.read())
        self.write('new')
        self.assertEqual(['old'] * 2, [one.read(), other.read()])
        other.drop()
        self.assertEqual(['new'] * 2, [one.read(), other.read()])

    def test_id_that_another_process_changes_meanwhile(self):
        one, other = self.process(), self.process()
        self.assertEqual('old', one.read())
        ids = one.manager.ids
        set_ = ids.store.set

        def set_late(*args):
            ids.store.set = set_
            self.write('new')
            other.invalidate()
            set_(*args)

        ids.store.set = set_late
        one.begin()
        ids.write_keeping_base(one.manager.name)
        self.assertEqual(['new'] * 2, [one.read(), other.read()])


class NullTests(base.CacheTestCase):
    """The default backend, which stores nothing."""

    def test_not_used(self):
        self.configure('dogpile.cache.null')
        log = self.useFixture(fixtures.FakeLogger())
        process = self.process()
        store = stores.of(process.region)
        calls = []

        def call(*args):
            calls.append(args)
            raise stores.Unavailable

        for name in ('get_many', 'add', 'replace', 'set', 'delete'):
            self.patch(store, name, call)

        self.assertEqual('old', process.read())
        self.write('new')
        # The request has read it.
        self.assertEqual('old', process.memoized('key'))
        process.memoized.invalidate('key')
        self.assertEqual('new', process.memoized('key'))
        self.assertEqual([], calls)
        self.assertEqual('', log.output)
