# SPDX-License-Identifier: Apache-2.0

from concurrent import futures
import os
import threading

import fixtures
from oslo_policy import policy as common_policy

from keystone.common.rbac_enforcer import enforcer
from keystone.common.rbac_enforcer import policy
from keystone.tests import unit

ACTION = 'identity:validate_token'
ADMIN = {'roles': ['admin'], 'system_scope': 'all'}
THREADS = 8
TIMEOUT = 60  # seconds


class _Held:
    """Holds the first caller of a function back, and no other.

    :param before: True to hold it before the call, False to hold it after
    """

    def __init__(self, function, before):
        self._function = function
        self._before = before
        self._first = threading.Lock()
        self.reached = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, *args, **kwargs):
        is_first = self._first.acquire(blocking=False)
        if is_first and self._before:
            self._wait()
        returned = self._function(*args, **kwargs)
        if is_first and not self._before:
            self._wait()
        return returned

    def _wait(self):
        self.reached.set()
        if not self.go_on.wait(TIMEOUT):
            raise AssertionError('the second caller did not return')


class FirstPolicyChecksTests(unit.TestCase):
    """The first policy checks of a process, in several threads at once."""

    def setUp(self):
        super().setUp()
        policy.reset()

    def check(self):
        return bool(
            enforcer.RBACEnforcer()._enforce(ADMIN, ACTION, {}, do_raise=False)
        )

    def check_while_held(self, owner, name, before):
        """Check while the first check is held in a function.

        :returns: outcomes of the first check and of the second one
        """
        held = _Held(getattr(owner, name), before)

        def call(*args, **kwargs):
            return held(*args, **kwargs)

        if owner is enforcer.RBACEnforcer:
            call = staticmethod(call)
        self.useFixture(fixtures.MockPatchObject(owner, name, call))
        with futures.ThreadPoolExecutor() as pool:
            first = pool.submit(self.check)
            try:
                self.assertTrue(held.reached.wait(TIMEOUT))
                second = self.check()
            finally:
                held.go_on.set()
            return first.result(), second

    def test_before_the_rules_are_registered(self):
        outcomes = self.check_while_held(
            enforcer.RBACEnforcer, 'register_rules', before=True
        )

        self.assertEqual((True, True), outcomes)

    def test_when_the_rules_have_just_been_registered(self):
        outcomes = self.check_while_held(
            enforcer.RBACEnforcer, 'register_rules', before=False
        )

        self.assertEqual((True, True), outcomes)

    def test_before_a_policy_directory_is_loaded(self):
        folder = self.useFixture(fixtures.TempDir()).path
        with open(os.path.join(folder, 'more.yaml'), 'w') as stream:
            stream.write(f'"{ACTION}": "!"\n')
        self.config_fixture.config(group='oslo_policy', policy_dirs=[folder])

        outcomes = self.check_while_held(
            common_policy.Enforcer, 'set_rules', before=True
        )

        self.assertEqual((False, False), outcomes)

    def test_many_at_once(self):
        barrier = threading.Barrier(THREADS)

        def check(_):
            barrier.wait(TIMEOUT)
            return self.check()

        with futures.ThreadPoolExecutor(THREADS) as pool:
            self.assertEqual(
                [True] * THREADS, list(pool.map(check, range(THREADS)))
            )
