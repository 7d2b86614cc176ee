# SPDX-License-Identifier: Apache-2.0

"""Tests of what is made of Rally's reports."""

import collections
import types

import testtools

from bench import plan
from bench import rally
from bench import rally_client
from bench import runner
from bench import runs
from patchset import __main__ as command_line
from patchset import errors
from patchset.tests.unit import test_commands


class WorkloadTestCase(testtools.TestCase):
    def test_those_that_failed_do_not_count(self):
        iterations = [[0.2, None], [9, 'no room'], [0.4, None]]
        answers, failed = rally.answers(
            {'iterations': iterations, 'load_duration': 0.5}
        )
        self.assertEqual(
            {'rate': 4, 'p50': 200, 'p99': 400, 'requests': 2},
            answers.measure(),
        )
        self.assertEqual(1, failed)

    def test_none_that_succeeded_is_no_result(self):
        for iterations, reason in (
            ([[9, 'no room']], 'no room'),
            ([], 'none was run'),
        ):
            error = self.assertRaises(
                errors.Error,
                rally.answers,
                {'iterations': iterations, 'load_duration': None},
            )
            self.assertIn(f'no iteration succeeded: {reason}', str(error))


class AmountTestCase(testtools.TestCase):
    def test_one_client_where_it_is_far(self):
        for delay, clients in ((0, 10), (100, 1)):
            one = plan.Plan(
                pin=None, scale='small', databases=('galera',), delay=delay
            )
            self.assertEqual(clients, rally.amount(one).clients)


class ProcessesTestCase(testtools.TestCase):
    """What is restarted for a round, and what runs before it."""

    def setUp(self):
        super().setUp()
        self.did = []
        self.patch(rally_client, 'started', self.rally)

    def rally(self, side, venv):
        did = self.did

        class Rally:
            def __enter__(self):
                did.append('rally')
                return self

            def __exit__(self, *_):
                did.append('ended')

            def get_ready(self):
                did.append('ready')

            def run(self, scenario, iterations, clients):
                did.append('run')

        return Rally()

    def of(self, delay, number):
        """How often each was done in a round, as {what: times}."""
        self.did.clear()
        keystone = types.SimpleNamespace(
            restart=lambda: self.did.append('restart')
        )
        side = Side(0)
        side.keystone = keystone
        one = plan.Plan(pin=None, scale='full', delay=delay)
        with rally.processes(one, None, [side], number):
            self.assertNotIn('ended', self.did)
        return dict(collections.Counter(self.did))

    def test_all_processes_are_new_in_each_round(self):
        once = {'rally': 1, 'ready': 1, 'ended': 1}
        warm = {'run': len(rally.SCENARIOS)}
        self.assertEqual({**once, **warm}, self.of(0, 0))
        self.assertEqual({**once, **warm, 'restart': 1}, self.of(0, 1))

    def test_keystone_goes_on_where_it_is_far(self):
        once = {'rally': 1, 'ready': 1, 'ended': 1}
        self.assertEqual(once, self.of(100, 1))


class Side:
    """A side with roles, whose API may say that a caller is not found.

    :param refusals: how often
    """

    name = 'stock'

    def __init__(self, refusals):
        self.roles = {'admin', 'member'}
        self.refusals = refusals
        self.keystone = self

    def query(self, statement):
        assert statement == 'SELECT id FROM role'
        return [(role,) for role in self.roles]

    def request(self, method, keystone, path, caller):
        self.refusals -= 1
        if self.refusals >= 0:
            raise errors.Error('HTTP Error 404: Not Found')
        self.roles.remove(path.removeprefix('/roles/'))


class LeftoversTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.patch(rally_client, 'log_in', lambda side: None)
        self.patch(rally_client.client, 'token', lambda keystone: 'token')

    def side(self, refusals):
        side = Side(refusals)
        self.patch(rally_client.client, 'request', side.request)
        return side

    def test_only_what_came_since_goes(self):
        side = self.side(refusals=3)
        roles = rally_client.roles(side)
        side.roles |= {'one', 'two'}
        rally_client.restore(side, roles)
        self.assertEqual({'admin', 'member'}, side.roles)

    def test_what_cannot_be_removed_is_told(self):
        side = self.side(refusals=1000)
        roles = rally_client.roles(side)
        side.roles.add('one')
        error = self.assertRaises(
            errors.Error, rally_client.restore, side, roles
        )
        self.assertIn('stock: 1 roles that rally has left', str(error))
        self.assertLess(0, side.refusals)


class DatabasesTestCase(testtools.TestCase):
    def of(self, *words):
        args = command_line.parse(['bench', *words])
        name = args.experiment
        return runner.databases_of(name, args), runner.command(name, args)

    def test_full_takes_each(self):
        used, command = self.of('rally', '--scale', 'full')
        self.assertEqual(('mariadb', 'postgresql', 'galera'), used)
        self.assertNotIn('--database', command)

    def test_unless_one_is_named(self):
        used, command = self.of(
            'rally', '--scale', 'full', '--database', 'galera'
        )
        self.assertEqual(('galera',), used)
        self.assertIn('--database galera', command)

    def test_delays_are_in_the_command_that_repeats_it(self):
        _, command = self.of('rally', '--delay', '0', '--delay', '300')
        self.assertTrue(command.endswith('--delay 0 --delay 300'), command)

    def test_a_delay_that_makes_no_sense_is_refused(self):
        for word, reason in (
            ('1001', '1001 is not between 0 and 1000'),
            ('-5', '-5 is not between 0 and 1000'),
            ('long', "invalid milliseconds value: 'long'"),
        ):
            code, text = test_commands.run('bench', 'rally', '--delay', word)
            self.assertEqual(2, code)
            self.assertIn(reason, text)
        code, text = test_commands.run('bench', 'warm', '--delay', '5')
        self.assertEqual(2, code)
        self.assertIn('--delay requires rally', text)

    def test_others_take_mariadb(self):
        for words in (['rally'], ['tokens', '--scale', 'full']):
            self.assertEqual(('mariadb',), self.of(*words)[0])


class PointsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        rates = {'stock': (10, 5), 'patched': (20, 20)}
        found = runs.Runs('database', 'delay', 'scenario')
        found.measured['galera', 100, 'get_entities'] = {
            side: [
                {
                    'clients': 1, 'rate': rate, 'p50': 5, 'p99': 9,
                    'failed': rate - 5, 'reads': 90, 'writes': 10,
                }
                for rate in values
            ]
            for side, values in rates.items()
        }  # fmt: skip
        self.points = rally.points(found)

    def test_ratio_and_shares(self):
        (point,) = self.points
        self.assertEqual(('galera', 100), (point['database'], point['delay']))
        self.assertEqual((3, [2, 4]), (point['ratio'], point['ratio_spread']))
        self.assertEqual(0.9, point['stock']['reads'])
        self.assertEqual(5, point['stock']['failed'])
        self.assertEqual(1, point['clients'])

    def test_text(self):
        lines = rally.text(self.points).splitlines()
        self.assertRegex(
            lines[-1],
            r'^galera +100 +get_entities +patched +20.0 +3.00 .* 90.0 % +2$',
        )
