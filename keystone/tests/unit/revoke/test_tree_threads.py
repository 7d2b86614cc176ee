# SPDX-License-Identifier: Apache-2.0

import itertools
import random
import sys
import threading

import fixtures

from keystone.revoke import tree
from keystone.tests import unit
from keystone.tests.unit.revoke import samples
from keystone.tests.unit.revoke.samples import seconds

_EVENTS = 20_000
_LIVE = 500
_READERS = 4


def _values(number):
    """The attributes of an event, of which some share edges."""
    user, project = f'u{number // 4}', f'p{number}'
    return (
        {'audit_id': f'a{number}'},
        {'user_id': user, 'project_id': project},
        {'user_id': user},
        {'user_id': user, 'project_id': project, 'role_id': 'r'},
    )[number % 4]


def _token(number):
    values = _values(number)
    role = values.pop('role_id', None)
    return samples.token(**values, roles=[role])


class ConcurrentReadTests(unit.BaseTestCase):
    """Readers that take no lock, while one thread adds and expires."""

    def setUp(self):
        super().setUp()
        # Switch threads often, and expire events often.
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-6)
        self.useFixture(fixtures.MonkeyPatch('keystone.revoke.tree.SPAN', 1))
        self.tree = tree.RevocationTree()
        # Every event in [expired, added) is live.
        self.added = 0
        self.expired = 0
        self.done = threading.Event()
        self.faults = []
        self.checks = itertools.count()

    def _guarded(self, work, *args):
        try:
            work(*args)
        except Exception as error:
            self.faults.append(repr(error))

    def _write(self):
        try:
            for number in range(_EVENTS):
                self.tree.add(
                    samples.Row(**_values(number), revoked_at=seconds(number))
                )
                self.added = number + 1
                if number % 50 == 49 and number > _LIVE:
                    self.expired = number - _LIVE
                    self.tree.expire(seconds(self.expired))
        finally:
            self.done.set()

    def _read(self, seed):
        rng = random.Random(seed)
        stranger = samples.token(user_id='x', project_id='p1', audit_id='x')
        while not self.done.is_set():
            added = self.added
            if not added:
                continue
            number = rng.randrange(max(0, added - _LIVE), added)
            revoked = self.tree.is_revoked(_token(number))
            # Read afterwards: it may have expired during the check.
            if not revoked and number >= self.expired:
                self.faults.append(f'{number} is not revoked')
            if self.tree.is_revoked(stranger):
                self.faults.append('revoked without an event')
            next(self.checks)

    def _report(self):
        while not self.done.is_set():
            len(self.tree)

    def test_no_event_is_missed(self):
        jobs = [(self._read, seed) for seed in range(_READERS)]
        threads = [
            threading.Thread(target=self._guarded, args=job)
            for job in [(self._write,), (self._report,), *jobs]
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([], self.faults)
        self.assertEqual(_EVENTS, self.added)
        self.assertGreater(next(self.checks), 1000)
