# SPDX-License-Identifier: Apache-2.0

"""Tests of assembling, and of keeping local edits."""

from patchset import assemble
from patchset import errors
from patchset import git
from patchset.tests.unit import base


class AssembleTestCase(base.RepositoryTestCase):
    def test_one_commit_per_topic_on_the_pristine_source(self):
        tree = self.assemble()
        subjects = git.git(
            tree, 'log', '--reverse', '--format=%s', f'{assemble.BASE}..'
        ).splitlines()
        self.assertEqual([topic.subject for topic in self.topics()], subjects)
        self.assertEqual('', git.git(tree, 'status', '--porcelain'))
        for name in ('keystone/revoke/core.py', 'setup.cfg'):
            self.assertEqual(
                (self.source / name).read_text(),
                git.git(tree, 'show', f'{assemble.BASE}:{name}'),
            )

    def test_overlay_files_are_there(self):
        tree = self.assemble()
        for topic in self.topics():
            for name in topic.adds:
                self.assertEqual(
                    (self.root / name).read_bytes(), (tree / name).read_bytes()
                )

    def test_same_commit_ids_each_time(self):
        self.few()
        first = assemble.head(self.assemble())
        tree = self.root / 'again'
        assemble.build(self.pin, self.source, self.topics(), tree, self.root)
        self.assertEqual(first, assemble.head(tree))

    def test_metadata_tells_the_local_version(self):
        tree = self.assemble()
        metadata = (tree / 'keystone.egg-info' / 'PKG-INFO').read_text()
        self.assertIn(f'\nVersion: {self.pin.local_version}\n', metadata)
        points = (tree / 'keystone.egg-info' / 'entry_points.txt').read_text()
        self.assertIn('keystone.revoke.backends.sql:Revoke', points)

    def test_edits_are_not_overwritten(self):
        tree = self.assemble()
        assemble.assert_clean(tree, self.pin)
        edited = tree / 'keystone' / 'revoke' / 'core.py'
        edited.write_text(edited.read_text() + '# mine\n')
        error = self.assertRaises(
            errors.Error, assemble.assert_clean, tree, self.pin
        )
        self.assertIn('has edits (M keystone/revoke/core.py', str(error))
        self.assertIn('# mine', edited.read_text())

    def test_new_files_are_not_overwritten(self):
        tree = self.assemble()
        (tree / 'keystone' / 'revoke' / 'mine.py').write_text('')
        error = self.assertRaises(
            errors.Error, assemble.assert_clean, tree, self.pin
        )
        self.assertIn('?? keystone/revoke/mine.py', str(error))

    def test_commits_are_not_overwritten(self):
        tree = self.assemble()
        git.git(tree, 'commit', '--quiet', '--allow-empty', '-m', 'mine')
        error = self.assertRaises(
            errors.Error, assemble.assert_clean, tree, self.pin
        )
        self.assertIn('has commits that are not in patches/', str(error))

    def test_a_folder_of_something_else_is_not_overwritten(self):
        folder = self.root / 'other'
        folder.mkdir()
        error = self.assertRaises(
            errors.Error, assemble.assert_clean, folder, self.pin
        )
        self.assertIn('is not an assembled tree', str(error))

    def test_renewed_in_place(self):
        self.few()
        tree = self.assemble()
        place = tree.stat().st_ino
        name = next(n for n in self.topics()[0].adds if n.endswith('.py'))
        with open(self.root / name, 'a') as module:
            module.write('# newer\n')
        fresh = self.root / 'fresh'
        assemble.build(self.pin, self.source, self.topics(), fresh, self.root)
        assemble.mark(fresh, 'inputs', 'x')
        assemble.renew(tree, fresh)
        self.assertEqual(place, tree.stat().st_ino)
        self.assertEqual(assemble.head(fresh), assemble.head(tree))
        self.assertTrue((tree / name).read_text().endswith('# newer\n'))
        self.assertEqual('x', assemble.read_mark(tree, 'inputs'))
        assemble.assert_clean(tree, self.pin)

    def test_digest_follows_each_input(self):
        topics = self.topics()
        before = assemble.digest(self.pin, topics, self.root)
        self.assertEqual(before, assemble.digest(self.pin, topics, self.root))
        overlay = self.root / topics[0].adds[0]
        overlay.write_text(overlay.read_text() + '\n')
        self.assertNotEqual(
            before, assemble.digest(self.pin, topics, self.root)
        )
