# SPDX-License-Identifier: Apache-2.0

"""What the DevStack plugin sets and installs besides the topics."""

from patchset import git
from patchset.tests.functional import devstack


class PackagingTestCase(devstack.DevstackTestCase):
    def setUp(self):
        super().setUp()
        self.plugin = self.root
        self.build = self.root / 'build'
        self.ks('--help')  # links the environments into that folder
        self.add_topic()

    def assembled(self):
        return self.build / self.pin.release

    def add_topic(self):
        """Give the copy a topic that adds an entry point."""
        tree = self.assemble()
        self.substitute(
            tree / 'pyproject.toml',
            r'^\[project\.entry-points\."keystone\.revoke"\]$',
            '[project.entry-points."keystone.revoke"]\n'
            'again = "keystone.revoke.backends.sql:Revoke"',
        )
        git.git(tree, 'add', '--all')
        git.commit(tree, 'Name the driver again\n\nForwarded: no\n')
        patch = git.git(
            tree, 'format-patch', '--stdout', '--zero-commit',
            '--no-signature', '--full-index', '-1',
        )  # fmt: skip
        (self.series.parent / 'entry-point.patch').write_text(patch)
        with open(self.series, 'a') as listed:
            listed.write('entry-point.patch\n')

    def drop_topic(self):
        """Take that topic out of the copy again, as a newer plugin might."""
        (self.series.parent / 'entry-point.patch').unlink()
        self.substitute(self.series, r'^entry-point\.patch\n', '')

    def test_entry_points_need_an_installation(self):
        self.run_well('stack install')
        self.assert_patched()
        self.assertEqual([str(self.keystone)], self.installed())
        self.run_well('stack install')
        self.assertEqual([str(self.keystone)], self.installed())
        self.drop_topic()
        self.run_well('stack install')
        self.assert_patched()
        self.assertEqual([str(self.keystone)] * 2, self.installed())
        self.run_well('unstack', 'clean')
        self.assert_pristine()
        self.assertEqual([str(self.keystone)] * 2, self.installed())


class OptionsTestCase(devstack.DevstackTestCase):
    # Options need no topics; the cheapest will do.
    def settings(self, options):
        return {
            'REVCACHE_TOPICS': self.topics()[0].name,
            'REVCACHE_OPTIONS': options,
        }

    def test_set_and_undone(self):
        before = self.options()
        settings = self.settings(
            'token.expiration=600 DEFAULT.debug= cache.enabled=True'
        )
        self.run_well('stack install', **settings)
        self.assertEqual(
            {
                'DEFAULT': {'debug': ''},
                'token': {'expiration': '600', 'provider': 'fernet'},
                'cache': {'enabled': 'True'},
            },
            self.options(),
        )
        self.run_well('stack install', **settings)
        self.run_well('unstack', 'clean', **settings)
        self.assertEqual({**before, 'cache': {}}, self.options())

    def test_values_that_a_shell_or_sed_would_change(self):
        self.substitute(self.conf, '^provider = fernet$', 'provider = *')
        before = self.options()
        settings = self.settings('token.provider=*&* token.expiration=7&')
        for _ in range(2):
            self.run_well('stack install', **settings)
            self.assertEqual(
                {'provider': '*&*', 'expiration': '7&'},
                self.options()['token'],
            )
        self.run_well('unstack', **settings)
        self.assertEqual(before, self.options())

    def test_changed_settings(self):
        self.run_well('stack install', **self.settings('token.expiration=600'))
        self.run_well('stack install', **self.settings('token.provider=jws'))
        self.assertEqual(
            {'expiration': '7200', 'provider': 'jws'}, self.options()['token']
        )

    def test_value_changed_by_another_is_kept(self):
        settings = self.settings('token.expiration=600')
        self.run_well('stack install', **settings)
        self.substitute(self.conf, r'^expiration = 600$', 'expiration = 60')
        self.run_well('unstack', **settings)
        self.assertEqual('60', self.options()['token']['expiration'])

    def test_file_made_anew(self):
        settings = self.settings('token.expiration=600')
        self.run_well('stack install', **settings)
        self.conf.write_text('')
        self.run_well('stack install', 'unstack', **settings)
        self.assertEqual({'token': {}}, self.options())

    def test_malformed(self):
        for options in ('expiration=600', 'token.expiration', 'token.=1'):
            error = self.run_badly('stack install', **self.settings(options))
            self.assertIn(f'not section.option=value: {options}', error)
        self.assertEqual(devstack.CONFIGURED, self.conf.read_text())
