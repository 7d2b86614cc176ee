# SPDX-License-Identifier: Apache-2.0

"""Tests of the command that measures."""

import signal
import types

import testtools

from bench import experiments
from bench import runner
from patchset import errors
from patchset.tests.unit import test_commands

# Those that a command which starts servers handles.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class CommandTestCase(testtools.TestCase):
    def test_kinds_are_of_revocations(self):
        code, text = test_commands.run('bench', 'mixed', '--kind', 'audit')
        self.assertEqual(2, code)
        self.assertIn('--kind requires revocations', text)

    def test_all_is_on_mariadb(self):
        code, text = test_commands.run(
            'bench', 'all', '--database', 'postgresql'
        )
        self.assertEqual(2, code)
        self.assertIn('catalog and warm require --database mariadb', text)


class AllTestCase(testtools.TestCase):
    """All experiments in turn, each of which writes down its name."""

    def setUp(self):
        super().setUp()
        self.done = []
        self.failing = {}
        names = ('one', 'two', 'three')
        experiment = types.SimpleNamespace(TITLE='A title')
        self.patch(experiments, 'ALL', dict.fromkeys(names, experiment))
        self.patch(runner, 'measure', self.measure)
        self.patch(runner, 'report', lambda *_: self.done.append('report'))
        for one in _SIGNALS:
            self.addCleanup(signal.signal, one, signal.getsignal(one))

    def measure(self, pin, name, args):
        if name in self.failing:
            raise self.failing[name]
        self.done.append(name)

    def test_in_order(self):
        code, text = test_commands.run('bench', 'all')
        self.assertEqual(0, code)
        self.assertEqual(['one', 'two', 'three', 'report'], self.done)
        self.assertIn('experiment 2 of 3: two', text)

    def test_one_that_fails_is_named_at_the_end(self):
        for failure, shown in (
            (errors.Error('no room'), 'two (no room)'),
            (ValueError('odd'), "two (ValueError('odd'))"),
        ):
            self.done.clear()
            self.failing['two'] = failure
            code, text = test_commands.run('bench', 'all')
            self.assertEqual(1, code)
            self.assertEqual(['one', 'three', 'report'], self.done)
            last = text.splitlines()[-1]
            self.assertIn(f'1 of 3 experiments failed: {shown}', last)

    def test_one_that_cannot_be_installed_is_left_out(self):
        def ensure(profile):
            raise errors.NotInstalled(f'no {profile} here')

        self.patch(runner.system, 'ensure', ensure)
        experiments.ALL['two'] = types.SimpleNamespace(
            TITLE='A title', PACKAGES='own'
        )
        code, text = test_commands.run('bench', 'all')
        self.assertEqual((0, ['one', 'three', 'report']), (code, self.done))
        self.assertIn('skipping two: no own here', text)

    def test_one_alone_is_drawn_as_well(self):
        self.patch(
            runner, 'measure', lambda pin, name, args: self.done.append(name)
        )
        code, _ = test_commands.run('bench', 'one')
        self.assertEqual((0, ['one', 'report']), (code, self.done))

    def test_ctrl_c_ends_all(self):
        self.failing['two'] = KeyboardInterrupt()
        code, _ = test_commands.run('bench', 'all')
        self.assertEqual(130, code)
        self.assertEqual(['one'], self.done)

    def test_nothing_to_draw(self):
        self.failing = dict.fromkeys(experiments.ALL, errors.Error('no'))
        code, text = test_commands.run('bench', 'all')
        self.assertEqual((1, []), (code, self.done))
        self.assertIn('3 of 3 experiments failed', text)
