# SPDX-License-Identifier: Apache-2.0

"""Tests of what is made of Rally's reports."""

import argparse
import collections
import types

import testtools

from bench import leftovers
from bench import plan
from bench import rally
from patchset import errors
from patchset.commands import bench
from patchset.tests import test_commands


class WorkloadTestCase(testtools.TestCase):
    def test_those_that_failed_do_not_count(self):
        iterations = [[0.2, None], [9, 'no room'], [0.4, None]]
        self.assertEqual(
            {'rate': 4, 'p50': 200, 'p99': 400, 'requests': 2, 'failed': 1},
            rally.sum_up({'iterations': iterations, 'load_duration': 0.5}),
        )

    def test_none_that_succeeded_is_no_result(self):
        for iterations, reason in (
            ([[9, 'no room']], 'no room'),
            ([], 'none was run'),
        ):
            error = self.assertRaises(
                errors.Error,
                rally.sum_up,
                {'iterations': iterations, 'load_duration': None},
            )
            self.assertIn(f'no iteration succeeded: {reason}', str(error))


class GroupsTestCase(testtools.TestCase):
    """What is measured one after the other, and what at once."""

    def of(self, delays, databases=('mariadb', 'postgresql', 'galera')):
        one = plan.Plan(pin=None, scale='full', databases=databases)
        return [
            [(each.database, each.delay) for each in group]
            for group in rally.groups(one, delays)
        ]

    def test_what_is_near_needs_the_machine(self):
        self.assertEqual(
            [[('mariadb', 0)], [('postgresql', 0)], [('galera', 0)]],
            self.of((0,)),
        )

    def test_what_waits_for_its_line_does_so_together(self):
        self.assertEqual(
            [[('galera', 300)], [('mariadb', 300), ('postgresql', 300)]],
            self.of((300,)),
        )

    def test_each_delay_by_itself(self):
        self.assertEqual(
            [[('mariadb', 0)], [('mariadb', 100)], [('mariadb', 300)]],
            self.of((0, 100, 300), ('mariadb',)),
        )

    def test_one_client_where_it_is_far(self):
        for group in rally.groups(
            plan.Plan(pin=None, scale='small', databases=('galera',)), (0, 100)
        ):
            for one in group:
                much = rally.amount(one)
                self.assertEqual(1 if one.delay else 10, much.at_once)


class ProcessesTestCase(testtools.TestCase):
    """What is restarted for a round, and what runs before it."""

    def setUp(self):
        super().setUp()
        self.did = []
        self.patch(rally.leftovers, 'Roles', lambda side: None)
        self.patch(rally.rally_client, 'Rally', self.rally)

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

            def begin(self, scenario, times, at_once):
                did.append('begin')

            def end(self):
                did.append('end')

        return Rally()

    def of(self, delay, number):
        """How often each was done in a round, as {what: times}."""
        self.did.clear()
        keystone = types.SimpleNamespace(
            restart=lambda: self.did.append('restart')
        )
        side = types.SimpleNamespace(name='stock', keystone=keystone)
        one = plan.Plan(pin=None, scale='full', delay=delay)
        place = rally.Place(one, None, [side])
        with place.processes(number):
            self.assertNotIn('ended', self.did)
        return dict(collections.Counter(self.did))

    def test_all_processes_are_new_in_each_round(self):
        once = {'rally': 1, 'ready': 1, 'ended': 1}
        warm = dict.fromkeys(('begin', 'end'), len(rally.SCENARIOS))
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

    def delete(self, keystone, caller, path):
        self.refusals -= 1
        if self.refusals >= 0:
            raise errors.Error('HTTP Error 404: Not Found')
        self.roles.remove(path.removeprefix('/roles/'))


class LeftoversTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.patch(leftovers, 'log_in', lambda side: None)
        self.patch(leftovers.client, 'token', lambda keystone: 'token')

    def side(self, refusals):
        side = Side(refusals)
        self.patch(leftovers.client, 'delete', side.delete)
        return side

    def test_only_what_came_since_goes(self):
        side = self.side(refusals=3)
        roles = leftovers.Roles(side)
        side.roles |= {'one', 'two'}
        roles.restore()
        self.assertEqual({'admin', 'member'}, side.roles)

    def test_what_cannot_be_removed_is_told(self):
        side = self.side(refusals=1000)
        roles = leftovers.Roles(side)
        side.roles.add('one')
        error = self.assertRaises(errors.Error, roles.restore)
        self.assertIn('stock: 1 roles that rally has left', str(error))
        self.assertLess(0, side.refusals)


class DatabasesTestCase(testtools.TestCase):
    def of(self, *words):
        parser = argparse.ArgumentParser()
        bench.add_arguments(parser)
        args = parser.parse_args(words)
        name = args.experiment
        return bench.databases_of(name, args), bench.command(name, args)

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
        found = rally.new_runs()
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
