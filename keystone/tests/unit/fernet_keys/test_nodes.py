# SPDX-License-Identifier: Apache-2.0

"""What nodes tell each other of their keys."""

import os

from dogpile.cache import region as dogpile_region
import fixtures
from oslo_log import formatters

from keystone.cmd.fernet_keys import status
from keystone.cmd.revocation import command
from keystone.common.key_history import history
from keystone.common.key_history import nodes
from keystone.common.key_history import outlook
from keystone.common.key_history import repository
from keystone.tests.unit.fernet_keys import base


class NodesTests(base.KeysTestCase):
    def setUp(self):
        super().setUp()
        self.world_ = self.world(2, 4)
        self.one, self.two = self.world_.nodes

    def told(self, node):
        return status.assess(self.world_.look(node))

    def other(self, node):
        (other,) = self.told(node)['nodes'].values()
        return other

    def test_the_same_keys(self):
        told = self.told(self.one)

        self.assertEqual((command.OK, True), (told['code'], told['safe']))
        self.assertEqual(
            {'state': 'ready', 'missing': [], 'extra': [], 'staged': True},
            self.other(self.one),
        )

    def test_a_folder_with_any_name(self):
        folder = os.path.join(self.folder, 'keys, schl\xfcssel')
        os.mkdir(folder)
        self.folder = folder
        self.world_ = self.world(2)

        self.assertEqual('ready', self.other(self.world_.nodes[0])['state'])

    def test_the_staged_key_is_not_everywhere_yet(self):
        self.world_.rotate(self.one, True)
        self.world_.report()

        told = self.told(self.one)

        self.assertEqual(1, self.world_.rotations)
        self.assertEqual(command.WARNING, told['code'])
        (reason,) = told['reasons']
        self.assertIn('does not have the staged key yet', reason)
        self.world_.rotate(self.one, True)
        self.assertEqual(1, self.world_.rotations)
        self.world_.distribute()
        self.world_.report()
        self.assertTrue(self.told(self.one)['safe'])

    def test_a_node_without_the_key_that_signs(self):
        for _ in range(2):
            self.world_.rotate(self.one, False)
        self.world_.report()

        self.assertEqual('unreadable', self.other(self.two)['state'])
        other = self.other(self.one)
        self.assertEqual(1, len(other['missing']))
        for node in self.world_.nodes:
            told = self.told(node)
            self.assertEqual(command.CRITICAL, told['code'])
            self.assertFalse(told['safe'])

    def test_a_key_that_others_do_not_have(self):
        # An old key is gone on one of them only.
        self.world_.rotate(self.one, False)
        self.world_.distribute()
        os.unlink(os.path.join(self.one.path, '1'))
        self.world_.report()

        self.assertEqual(1, len(self.other(self.one)['extra']))
        self.assertEqual(1, len(self.other(self.two)['missing']))

    def test_what_is_dead_is_not_missed(self):
        self.world_.rotate(self.one, False)
        self.world_.distribute()
        self.world_.report()
        self.world_.wait(100_000)
        os.unlink(os.path.join(self.one.path, '1'))
        self.world_.report()

        self.assertEqual([], self.other(self.one)['extra'])
        self.assertEqual([], self.other(self.two)['missing'])

    def test_a_node_that_is_silent(self):
        self.world_.wait(nodes.FRESH)

        self.assertEqual('silent', self.other(self.one)['state'])
        told = self.told(self.one)
        self.assertFalse(told['safe'])
        self.assertEqual(command.WARNING, told['code'])

    def test_a_node_that_the_cache_has_lost(self):
        self.world_.empty_cache()

        self.assertEqual('silent', self.other(self.one)['state'])

    def test_a_node_that_is_gone(self):
        self.world_.wait(2 * 86400)

        self.assertEqual({}, self.told(self.one)['nodes'])

    def forget(self, region):
        outlook.forget(
            self.world_.repository(self.one),
            self.world_.repository(self.two).node,
            nodes.Reports('fernet_tokens', region),
        )

    def test_a_node_that_is_to_be_forgotten(self):
        self.forget(self.world_.region)

        self.assertEqual({}, self.told(self.one)['nodes'])
        # It is there after all.
        self.world_.look(self.two)
        self.assertEqual('ready', self.other(self.one)['state'])

    def test_nothing_is_forgotten_without_the_cache(self):
        # One drops what it gets, the other one cannot be reached.
        for backend, arguments in (
            ('null', {}),
            ('pymemcache', {'url': ['127.0.0.1:1']}),
        ):
            region = dogpile_region.make_region().configure(
                f'dogpile.cache.{backend}', arguments=arguments
            )
            error = self.assertRaises(ValueError, self.forget, region)
            self.assertIn('the shared cache is unavailable', str(error))
            self.assertNotIn('127.0.0.1', str(error))
        self.world_.empty_cache()
        self.assertEqual('silent', self.other(self.one)['state'])

    def test_error_of_the_cache_is_not_logged_but_for_its_kind(self):
        output = self.useFixture(
            fixtures.FakeLogger(
                format='%(message)s', formatter=formatters.ContextFormatter
            )
        )
        self.useFixture(
            fixtures.MockPatchObject(
                nodes.Reports,
                'read',
                side_effect=OSError('user:password@server'),
            )
        )
        self.told(self.one)
        self.assertIn('OSError', output.output)
        self.assertNotIn('password', output.output)

    def test_fewer_nodes_than_expected(self):
        self.config_fixture.config(group='fernet_tokens', expected_nodes=3)

        (reason,) = self.told(self.one)['reasons']

        self.assertEqual('2 of 3 nodes have reported', reason)

    def key(self, node):
        name = self.world_.repository(node).node
        return f'keystone key report fernet_tokens {name}'

    def test_the_cache_learns_nothing(self):
        keys = self.world_.repository(self.one).read().values()
        cache = self.world_.cache
        text = str(cache)

        self.assertLess(2, len(cache))
        for key in keys:
            self.assertNotIn(key.decode(), text)
            self.assertNotIn(repository.name(key), text)

    def test_a_report_is_no_token(self):
        sealed = self.world_.region.get(self.key(self.one))

        self.assertFalse(self.world_.opens(self.one, sealed.encode()))

    def test_what_is_made_up(self):
        region = self.world_.region
        # A report of another node, and words of anybody.
        for text in (region.get(self.key(self.one)), '{}', 'gAAAA', '17'):
            region.set(self.key(self.two), text)
            told = self.told(self.one)
            self.assertFalse(told['safe'], text)
            self.assertEqual('unreadable', self.other(self.one)['state'])

    def test_a_list_that_is_made_up(self):
        for text in ('17', '[]', '{"a": "b"}', '{"a b\\n": 1}', '{'):
            self.world_.region.set('keystone key report fernet_tokens', text)
            # It was there before, and so it is waited for.
            self.assertEqual('silent', self.other(self.one)['state'], text)

    def test_listed_times_that_never_get_old(self):
        now = self.world_.now
        for at in ('Infinity', 'NaN', 'null', f'1{"0" * 400}', now + 9e9):
            self.world_.region.set('keystone key report fernet_tokens ab', 'x')
            self.world_.region.set(
                'keystone key report fernet_tokens', f'{{"ab": {at}}}'
            )
            # The list is written again.
            self.world_.report()
            told = self.told(self.one)
            self.assertEqual((command.OK, True), (told['code'], told['safe']))

    def test_a_list_that_is_nested_too_deeply(self):
        text = '[' * 200_000
        self.world_.region.set('keystone key report fernet_tokens', text)
        self.world_.report()
        self.assertTrue(self.told(self.one)['safe'])

    def test_the_later_moment_holds(self):
        """A node that goes on with the old key is known to."""
        self.world_.rotate(self.one, True)
        self.world_.wait(5000)
        self.world_.report()

        key = self.world_.look(self.one).key(1)

        self.assertFalse(key['assumed'])
        self.assertEqual(self.world_.now + 3600 + 3600, key['until'] - 2 * 60)

    def test_nothing_is_lost_with_the_records(self):
        """Without them the worst is assumed."""
        self.config_fixture.config(
            group='revoke', longest_token_lifetime=86400
        )
        self.world_.rotate(self.one, True)
        self.world_.distribute()
        folder = os.path.join(self.one.path, '.history')
        for text in (
            '{', '[]', '{"keys": {"a": {}}}', '{"lifetimes": [[1, 2]]}',
            '{"nodes": {"a": {"until": "b"}}}', None,
        ):  # fmt: skip
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                if text is None:
                    os.unlink(path)
                elif name.endswith('.json'):
                    with open(path, 'w') as file:
                        file.write(text)
            key = self.world_.look(self.one).key(1)

            self.assertTrue(key['assumed'])
            self.assertEqual(
                self.world_.now + 86400 + 3600 + 2 * history.INTERVAL,
                key['until'],
            )
