# SPDX-License-Identifier: Apache-2.0

from concurrent import futures
import os
import random
import threading

import fixtures
from oslo_policy import policy

from keystone.common.rbac_enforcer import enforcer as rbac_enforcer
from keystone.common.rbac_enforcer import unchanged_policy
import keystone.conf
from keystone.tests import unit

CONF = keystone.conf.CONF

_RULES = ('@', '!', 'role:admin', 'role:reader', 'rule:c')
_NAMES = ('a', 'b', 'c')
_A_WHILE = 0.5  # seconds


class UnchangedPolicyTests(unit.TestCase):
    """Policy files that are loaded when they have changed."""

    def setUp(self):
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir()).path
        self.path = os.path.join(self.folder, 'policy.yaml')
        self.more = os.path.join(self.folder, 'policy.d')
        self.config_fixture.config(
            group='oslo_policy', policy_file=self.path, policy_dirs=[self.more]
        )
        self.now = 1_000_000_000
        self.loads = 0

    def enforcer(self, kind=unchanged_policy.Enforcer):
        made = kind(CONF)
        for name in _NAMES:
            made.register_default(policy.RuleDefault(name, 'role:admin'))
        return made

    def write(self, path, rules):
        with open(path, 'w') as stream:
            if not rules:
                stream.write('{}\n')
            for name, rule in rules.items():
                stream.write(f'"{name}": "{rule}"\n')
        self.touch(path)

    def write_invalid(self, path):
        with open(path, 'w') as stream:
            stream.write('"a": [')
        self.touch(path)

    def touch(self, path):
        self.now += 1
        os.utime(path, (self.now, self.now))

    def count_loads(self):
        load = policy.Enforcer.load_rules

        def counted(enforcer, *args, **kwargs):
            self.loads += 1
            return load(enforcer, *args, **kwargs)

        patch = fixtures.MockPatchObject(
            policy.Enforcer, 'load_rules', counted
        )
        self.useFixture(patch)

    def allows(self, enforcer, name='a', role='reader'):
        return bool(enforcer.enforce(name, {}, {'roles': [role]}))

    def test_keystone_uses_it(self):
        made = rbac_enforcer.RBACEnforcer()._enforcer

        self.assertIsInstance(made, unchanged_policy.Enforcer)

    def test_loaded_once(self):
        self.write(self.path, {'a': 'role:reader'})
        enforcer = self.enforcer()
        self.count_loads()

        for _ in range(9):
            self.assertTrue(self.allows(enforcer))

        # Once more when it is known where the file is.
        self.assertLessEqual(self.loads, 2)

    def test_changed(self):
        self.write(self.path, {'a': 'role:reader'})
        enforcer = self.enforcer()
        self.assertTrue(self.allows(enforcer))

        self.write(self.path, {'a': '!'})

        self.assertFalse(self.allows(enforcer))

    def test_whole_while_it_is_loaded(self):
        self.write(self.path, {'a': 'role:reader'})
        enforcer = self.enforcer()
        self.assertTrue(self.allows(enforcer))
        self.write(self.path, {'b': 'role:reader'})
        set_rules, seen = policy.Enforcer.set_rules, []

        def seen_by_others(one, *args, **kwargs):
            set_rules(one, *args, **kwargs)
            seen.append((set(enforcer.rules), str(enforcer.rules['a'])))

        with fixtures.MockPatchObject(
            policy.Enforcer, 'set_rules', seen_by_others
        ):
            self.assertTrue(self.allows(enforcer, 'b'))
        self.assertFalse(self.allows(enforcer, 'a'))
        self.assertEqual([(set(_NAMES), 'role:reader')], seen)

    def test_changed_while_it_is_loaded_by_another_thread(self):
        self.write(self.path, {'a': '!'})
        enforcer = self.enforcer()
        self.assertFalse(self.allows(enforcer))
        self.write(self.path, {'a': 'role:reader'})
        set_rules, answered = policy.Enforcer.set_rules, threading.Event()

        def held(one, *args, **kwargs):
            # By now the file is known to have been read.
            second.append(pool.submit(self.allows, enforcer))
            second[0].add_done_callback(lambda _: answered.set())
            answered.wait(_A_WHILE)
            set_rules(one, *args, **kwargs)

        second = []
        with futures.ThreadPoolExecutor() as pool:
            with fixtures.MockPatchObject(policy.Enforcer, 'set_rules', held):
                self.assertTrue(self.allows(enforcer))

            self.assertTrue(second[0].result())
        self.assertTrue(self.allows(enforcer))

    def test_changed_along_with_an_invalid_file(self):
        self.write(self.path, {'a': 'role:reader'})
        os.mkdir(self.more)
        enforcer = self.enforcer()
        self.assertTrue(self.allows(enforcer))
        self.write(self.path, {'a': '!'})
        self.write_invalid(os.path.join(self.more, '1.yaml'))

        self.assertRaises(ValueError, self.allows, enforcer)
        # Other threads use the previous rules, with the defaults.
        self.assertEqual(set(_NAMES), set(enforcer.rules))
        self.assertEqual('role:reader', str(enforcer.rules['a']))
        self.assertFalse(self.allows(enforcer))
        self.assertTrue(self.allows(enforcer, 'b', 'admin'))

    def test_forced(self):
        enforcer = self.enforcer()
        self.allows(enforcer)
        self.count_loads()

        enforcer.load_rules(force_reload=True)

        self.assertEqual(1, self.loads)

    def test_default_that_is_registered_later(self):
        enforcer = self.enforcer()
        self.assertFalse(self.allows(enforcer))

        enforcer.register_default(policy.RuleDefault('late', '@'))

        self.assertTrue(self.allows(enforcer, 'late'))

    def test_cleared(self):
        self.write(self.path, {'a': '@'})
        enforcer = self.enforcer()
        self.assertTrue(self.allows(enforcer))

        enforcer.clear()
        self.write(self.path, {'a': '!'})
        enforcer.load_rules(force_reload=True)

        self.assertFalse(self.allows(enforcer))

    def test_random_changes(self):
        """Whatever is changed, it decides as oslo.policy does."""
        for seed in range(40):
            dice = random.Random(seed)
            for path in (self.path, self.more):
                self.remove(path)
            pair = self.enforcer(), self.enforcer(policy.Enforcer)
            for number in range(12):
                for path in self.change(dice):
                    self.touch(path)
                for name in _NAMES:
                    for role in ('admin', 'reader'):
                        ours, theirs = (
                            self.outcome(one, name, role) for one in pair
                        )
                        self.assertEqual(
                            theirs, ours, f'seed {seed}, change {number}'
                        )

    def outcome(self, enforcer, name, role):
        try:
            return self.allows(enforcer, name, role)
        except Exception as error:
            return type(error)

    def remove(self, path):
        if os.path.isdir(path):
            for name in os.listdir(path):
                os.remove(os.path.join(path, name))
            os.rmdir(path)
        elif os.path.exists(path):
            os.remove(path)

    def change(self, dice):
        """Change something; the folders that this has touched."""
        names = [name for name in _NAMES if dice.random() < 0.5]
        rules = {name: dice.choice(_RULES) for name in names}
        one = os.path.join(self.more, dice.choice(('1.yaml', '2.yaml')))
        kinds = 'file', 'no file', 'folder', 'in', 'out', 'invalid', 'none'
        kind = dice.choice(kinds)
        if kind == 'file':
            self.write(self.path, rules)
        elif kind == 'invalid':
            # Sometimes along with a change of the other file.
            if dice.random() < 0.5:
                self.write(self.path, rules)
            path = dice.choice((self.path, one))
            if os.path.isdir(os.path.dirname(path)):
                self.write_invalid(path)
            return [self.more] if os.path.isdir(self.more) else []
        elif kind == 'no file':
            self.remove(self.path)
        elif kind == 'folder':
            os.makedirs(self.more, exist_ok=True)
            return [self.more]
        elif kind == 'in' and os.path.isdir(self.more):
            self.write(one, rules)
            return [self.more]
        elif kind == 'out' and os.path.exists(one):
            os.remove(one)
            return [self.more]
        return []


class PolicyFilesTests(unit.TestCase):
    """Relative paths are found where oslo.config finds them."""

    def setUp(self):
        super().setUp()
        # Only what this test creates exists.
        self.root = self.useFixture(fixtures.TempDir()).path
        for name in ('HOME', 'SNAP', 'SNAP_COMMON'):
            folder = os.path.join(self.root, name)
            self.useFixture(fixtures.EnvironmentVariable(name, folder))
        self.config_fixture.config(
            group='oslo_policy', policy_file='a.yaml', policy_dirs=['a.d']
        )

    def found(self):
        """Paths of what the enforcer would load, except what is in folders."""
        enforcer = unchanged_policy.Enforcer(CONF)
        files = enforcer._look()
        return [one[0] for one in files]

    def test_in_each_folder(self):
        project = CONF.project
        for folder in (
            os.path.join('SNAP', 'etc', project),
            os.path.join('SNAP_COMMON', 'etc', project),
            'HOME',
            os.path.join('HOME', f'.{project}'),
        ):
            path = os.path.join(self.root, folder)
            os.makedirs(path, exist_ok=True)
            with open(os.path.join(path, 'a.yaml'), 'w') as stream:
                stream.write('{}\n')
            os.makedirs(os.path.join(path, 'a.d'))
            # The folders are ordered: the latest one is found.
            expected = [CONF.find_file('a.yaml'), CONF.find_file('a.d')]
            self.assertEqual(os.path.join(path, 'a.yaml'), expected[0])
            self.assertEqual(expected, self.found())

    def test_nowhere(self):
        self.assertIsNone(CONF.find_file('a.yaml'))
        self.assertEqual([], self.found())
