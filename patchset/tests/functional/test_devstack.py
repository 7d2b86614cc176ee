# SPDX-License-Identifier: Apache-2.0

"""How the DevStack plugin applies the topics and takes them away."""

import shutil

from patchset import export
from patchset import git
from patchset.tests.functional import devstack


class TopicsTestCase(devstack.DevstackTestCase):
    def test_install_gives_the_assembled_tree(self):
        self.run_well('stack pre-install')
        self.assert_pristine()
        self.run_well('stack install')
        self.assert_patched()
        subjects = git.git(
            self.keystone, 'log', '--reverse', '--format=%s', '-n',
            str(len(self.topics())),
        ).splitlines()  # fmt: skip
        self.assertEqual([topic.subject for topic in self.topics()], subjects)
        patched = self.head()
        self.run_well('stack post-config', 'stack extra', 'stack test-config')
        self.assertEqual(patched, self.head())
        printed = self.run_well('stack install')
        self.assertIn('The topics are already applied', printed)
        self.assertEqual(patched, self.head())
        # The installation that DevStack made sees every file in the tree.
        self.assertEqual([], self.installed())

    def test_unstack_and_clean_undo(self):
        before = {path.name for path in self.folder.iterdir()}
        self.run_well('stack install')
        self.run_well('unstack')
        self.assert_pristine()
        self.run_well('clean')
        self.assert_pristine()
        self.run_well('stack install', 'clean')
        self.assert_pristine()
        after = {path.name for path in self.folder.iterdir()}
        self.assertEqual(before, after)

    def test_clean_without_keystone(self):
        shutil.rmtree(self.keystone)
        self.run_well('unstack', 'clean')

    def test_keystone_elsewhere(self):
        self.run_well(
            'stack install', 'unstack', ENABLED_SERVICES='nova,keystone-x'
        )
        self.assert_pristine()

    def test_checkout_made_anew(self):
        self.run_well('stack install')
        git.git(self.keystone, 'checkout', '--quiet', self.pristine)
        self.run_well('unstack')
        self.assert_pristine()
        self.run_well('stack install')
        self.assert_patched()
        git.git(self.keystone, 'checkout', '--quiet', self.pristine)
        self.run_well('stack install')
        self.assert_patched()

    def test_some_topics(self):
        topics = self.topics()
        wanted = topics[-1].name, topics[0].name
        applied = export.closure(topics, wanted)
        self.run_well('stack install', REVCACHE_TOPICS=','.join(wanted))
        for topic in topics:
            for name in topic.adds:
                self.assertEqual(
                    topic.name in applied, (self.keystone / name).exists()
                )
        self.run_well('stack install', REVCACHE_TOPICS='')
        self.assert_patched()
        self.run_well('unstack')
        self.assert_pristine()

    def test_shared_dependency_is_applied_once(self):
        topics = self.topics()
        dependent = next(topic for topic in topics if topic.depends)
        needed = dependent.depends[0]
        self.run_well(
            'stack install', REVCACHE_TOPICS=f'{needed} {dependent.name}'
        )
        subjects = git.git(
            self.keystone, 'log', '--format=%s', f'{self.pristine}..'
        ).splitlines()
        for topic in topics:
            if topic.name in (needed, dependent.name):
                self.assertEqual(1, subjects.count(topic.subject))

    def test_unknown_topic(self):
        error = self.run_badly('stack install', REVCACHE_TOPICS='dreams')
        self.assertIn('ks: error: no topic dreams; there are: ', error)
        self.assertIn('failed to export the topics', error)
        self.assert_pristine()

    def test_release(self):
        self.run_well('stack install', REVCACHE_RELEASE=self.pin.release)
        self.assert_patched()
        error = self.run_badly('stack install', REVCACHE_RELEASE='1999.1')
        self.assertIn('ks: error: no release 1999.1; there are: ', error)


class EditedTreeTestCase(devstack.DevstackTestCase):
    def edit(self, name='README.rst'):
        path = self.keystone / name
        path.write_text(path.read_text() + '\nmine\n')

    def commit(self):
        git.commit(self.keystone, 'Mine\n')
        return self.head()

    def test_edits_stop_the_install(self):
        self.edit()
        error = self.run_badly('stack install')
        self.assertIn('has uncommitted changes', error)
        self.assertEqual(self.pristine, self.head())
        self.assertEqual(' M README.rst\n', self.status())

    def test_edits_outlive_the_undoing(self):
        self.run_well('stack install')
        self.edit()
        self.run_well('unstack')
        self.assertEqual(self.pristine, self.head())
        self.assertEqual(' M README.rst\n', self.status())

    def test_topics_that_do_not_apply_leave_no_trace(self):
        path = self.keystone / self.changed_file()
        path.write_text('# something else altogether\n')
        git.git(self.keystone, 'add', '--all')
        before = self.commit()
        error = self.run_badly('stack install')
        self.assertIn(f'do not apply to {self.keystone} at {before}', error)
        self.assertEqual(before, self.head())
        self.assertEqual('', self.status())
        self.assertFalse((self.keystone / '.git' / 'rebase-apply').exists())

    def test_an_unfinished_git_am_is_left_alone(self):
        unfinished = self.keystone / '.git' / 'rebase-apply'
        unfinished.mkdir()
        error = self.run_badly('stack install')
        self.assertIn('is in the middle of a git am or rebase', error)
        self.assertTrue(unfinished.is_dir())
        self.assertEqual(self.pristine, self.head())

    def test_commits_on_top_are_kept(self):
        self.run_well('stack install')
        self.edit()
        git.git(self.keystone, 'add', '--all')
        mine = self.commit()
        self.run_well('stack install')
        self.assertEqual(mine, self.head())
        printed = self.run_well('unstack')
        self.assertIn('has commits on top of the topics', printed)
        self.assertEqual(mine, self.head())
        error = self.run_badly(
            'stack install', REVCACHE_TOPICS=self.topics()[0].name
        )
        self.assertIn('failed to remove the topics', error)
        self.assertEqual(mine, self.head())

    def test_a_branch_that_moved_on_takes_the_topics(self):
        name = self.changed_file()
        path = self.keystone / name
        path.write_text('# A line more at the top.\n' + path.read_text())
        git.git(self.keystone, 'add', '--all')
        before = self.commit()
        self.run_well('stack install')
        self.assertTrue(path.read_text().startswith('# A line more'))
        self.assertIn(
            path.read_text().partition('\n')[2],
            (self.assembled() / name).read_text(),
        )
        self.run_well('unstack')
        self.assertEqual(before, self.head())
