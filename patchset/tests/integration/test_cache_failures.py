# SPDX-License-Identifier: Apache-2.0

"""Two Keystones with a cache server that fails, under load.

Each failure happens while clients validate tokens on both Keystones, revoke
them, and disable and enable a project. ``KS_SECONDS`` is how long the server
is paused, and how long the load goes on after each failure: 10 for a long run.
"""

import http.client
import os
import threading
import time

from patchset import client
from patchset.tests.integration import cache_servers
from patchset.tests.integration import keystones

# Seconds: how long failures last, and how long a value may be outdated.
SECONDS = int(os.environ.get('KS_SECONDS', 3))
BOUND = keystones.BOUND
# What a request under way, and the ticks of a server, add to that.
SLACK = 1.5


class Load:
    """Clients that ask two Keystones, and note each wrong answer.

    A change is made by one Keystone. There it is in force with the answer; in
    the other one within the bound.

    :param clients: a client of each
    :param caller: the admin's token
    :param project: id of a project that is disabled and enabled
    """

    def __init__(self, clients, caller, project):
        self._clients = clients
        self._caller = caller
        self._path = f'/projects/{project}'
        self._ends = threading.Event()
        self.wrong = []
        self.counts = {'validated': 0, 'revoked': 0, 'changed': 0}
        self._threads = [
            threading.Thread(target=self._keep, args=(work,))
            for work in (self._validate, self._revoke, self._change)
        ]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        for thread in self._threads:
            thread.join()

    def _keep(self, work):
        number = 0
        while not self._ends.is_set():
            try:
                work(number)
            except Exception as error:
                self.wrong.append(f'{work.__name__}: {error!r}')
                time.sleep(0.1)
            number += 1

    def _expect(self, what, wanted, found):
        if found != wanted:
            self.wrong.append(f'{what}: {found}, not {wanted}')

    def _validate(self, number):
        node = self._clients[number % 2]
        status = node.validate(self._caller, self._caller)
        self._expect('validate', http.client.OK, status)
        self.counts['validated'] += 1

    def _revoke(self, number):
        one, other = self._turned(number)
        token = one.issue(keystones.ADMIN, client.ADMIN_PROJECT)
        for node in (one, other):
            status = node.validate(self._caller, token)
            self._expect('before revoking', http.client.OK, status)
        status = one.revoke(self._caller, token)
        self._expect('revoke', http.client.NO_CONTENT, status)
        status = one.validate(self._caller, token)
        self._expect('revoked, here', http.client.NOT_FOUND, status)
        time.sleep(BOUND)
        status = other.validate(self._caller, token)
        self._expect('revoked, there', http.client.NOT_FOUND, status)
        self.counts['revoked'] += 1

    def _change(self, number):
        one, other = self._turned(number)
        wanted = bool(number % 2)
        body = {'project': {'enabled': wanted}}
        answer = one.ask('PATCH', self._path, self._caller, body)
        self._expect('change', http.client.OK, answer.status)
        self._expect('changed, here', wanted, self._is_enabled(one))
        time.sleep(BOUND + SLACK)
        self._expect('changed, there', wanted, self._is_enabled(other))
        self.counts['changed'] += 1

    def _is_enabled(self, node):
        answer = node.ask('GET', self._path, self._caller)
        if answer.status != http.client.OK:
            return answer.status
        return answer.body['project']['enabled']

    def _turned(self, number):
        one, other = self._clients
        return (one, other) if number % 4 < 2 else (other, one)


class _Failures:
    """What holds for each backend; a subclass names it."""

    kind = None
    backend = None

    def start(self):
        """Start the servers; a project, and what a load needs."""
        self.server = self.enterContext(self.kind())
        clients = self.keystones(
            None,
            {
                'cache': {
                    'enabled': True,
                    'backend': self.backend,
                    'expiration_time': BOUND,
                    **self.options(),
                }
            },
        )
        self.caller = clients[0].issue(keystones.ADMIN, client.ADMIN_PROJECT)
        project = self.make(clients[0], 'project', name='changing')
        return Load(clients, self.caller, project)

    def options(self):
        """Options of ``[cache]`` for the servers."""
        return self.server.options()

    def test_failures(self):
        load = self.start()
        with load:
            time.sleep(SECONDS)
            contents = self.server.dump()
            for failure in (self.killed, self.emptied, self.paused, self.full):
                self.fail_once(load, failure)
            self.fail_once(load, self.replaced, contents)
        for kind, count in load.counts.items():
            # A change takes seconds, more of them on a busy machine.
            self.assertLess(1, count, kind)

    def fail_once(self, load, failure, *args):
        failure(*args)
        time.sleep(SECONDS)
        self.assertEqual([], load.wrong, failure.__name__)

    def killed(self):
        self.server.kill()
        time.sleep(SECONDS)
        self.server.start_again()

    def emptied(self):
        self.server.flush()

    def paused(self):
        with self.server.paused():
            time.sleep(SECONDS)

    def replaced(self, contents):
        self.server.replace(contents)

    def full(self):
        self.server.fill(SECONDS)


class MemcachedFailureTests(_Failures, keystones.KeystonesTestCase):
    kind = cache_servers.Memcached
    backend = 'dogpile.cache.memcached'


class MemcachedRingFailureTests(MemcachedFailureTests):
    """One of three servers fails, and the others have its keys."""

    def options(self):
        others = [self.enterContext(self.kind()) for _ in range(2)]
        servers = [one.address for one in (self.server, *others)]
        return {**super().options(), 'memcache_servers': servers}


class PyMemcacheFailureTests(_Failures, keystones.KeystonesTestCase):
    kind = cache_servers.Memcached
    backend = 'dogpile.cache.pymemcache'


class MemcachePoolFailureTests(_Failures, keystones.KeystonesTestCase):
    kind = cache_servers.Memcached
    backend = 'oslo_cache.memcache_pool'


class RedisFailureTests(_Failures, keystones.KeystonesTestCase):
    kind = cache_servers.Redis
    backend = 'dogpile.cache.redis'
