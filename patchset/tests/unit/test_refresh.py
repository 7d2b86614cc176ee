# SPDX-License-Identifier: Apache-2.0

"""Tests of taking edits in the assembled tree back."""

import shutil

from patchset import assemble
from patchset import errors
from patchset import git
from patchset.commands import refresh
from patchset.tests.unit import base

_NEW_TEST = 'keystone/tests/unit/revoke/test_refreshed.py'


class RefreshTestCase(base.RepositoryTestCase):
    def setUp(self):
        super().setUp()
        self.few()
        self.tree = self.assemble()

    def write_back(self):
        found = refresh.read(self.tree, self.pin.release)
        return refresh.write(self.pin.release, found, self.root)

    def commit(self, path, content, message):
        (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / path).write_text(content)
        git.git(self.tree, 'add', '--all')
        git.git(self.tree, 'commit', '--quiet', '-m', message)

    def test_nothing_to_do(self):
        self.assertEqual([], self.write_back())

    def test_edit_of_an_upstream_file_goes_into_its_topic(self):
        topic = self.with_hunks()
        name = assemble.hunks(topic.diff)[0][0]
        (self.tree / name).write_text(
            (self.tree / name).read_text() + '# the last line\n'
        )
        refresh.fold(self.tree, topic.name)
        changed = self.write_back()
        self.assertIn(topic.path.relative_to(self.root).as_posix(), changed)
        self.assertIn('\n+# the last line\n', topic.path.read_text())
        self.assertEqual([], self.again())

    def again(self):
        """Assemble what was written back, and write it back once more."""
        self.tree = self.root / 'second'
        assemble.build(
            self.pin, self.source, self.topics(), self.tree, self.root
        )
        return self.write_back()

    def test_edit_of_an_overlay_file_goes_into_the_overlay(self):
        topic = next(topic for topic in self.topics() if topic.adds)
        name = next(n for n in topic.adds if n.endswith('.py'))
        with open(self.tree / name, 'a') as module:
            module.write('# ours\n')
        refresh.fold(self.tree, topic.name)
        self.assertEqual([name], self.write_back())
        self.assertTrue((self.root / name).read_text().endswith('# ours\n'))

    def test_new_commit_is_a_new_topic(self):
        self.commit(
            _NEW_TEST,
            '"""Nothing yet."""\n',
            'Try something new\n\nBecause.\n\nForwarded: no\n',
        )
        self.assertEqual(
            {
                str(
                    self.series.parent.relative_to(self.root)
                    / 'try-something-new.patch'
                ),
                str(self.series.relative_to(self.root)),
                _NEW_TEST,
            },
            set(self.write_back()),
        )
        topic = self.topics()[-1]
        self.assertEqual('try-something-new', topic.name)
        self.assertEqual([_NEW_TEST], topic.adds)
        self.assertEqual('', topic.diff)
        self.assertEqual([], self.again())

    def drop_the_last(self):
        last = self.topics()[-1]
        git.git(self.tree, 'reset', '--quiet', '--hard', 'HEAD~1')
        self.write_back()
        self.assertFalse(last.path.exists())
        self.assertNotIn(last.name, [topic.name for topic in self.topics()])
        return last

    def test_dropped_commit_takes_its_files_along(self):
        for name in self.drop_the_last().adds:
            self.assertFalse((self.root / name).exists())

    def test_dropped_commit_leaves_files_of_another_release(self):
        shutil.copytree(self.patches, self.root / 'patches' / '2000.1')
        for name in self.drop_the_last().adds:
            self.assertTrue((self.root / name).is_file())

    def test_series_comments_are_kept(self):
        path = self.series
        path.write_text('# Why in this order.\n' + path.read_text())
        self.commit(_NEW_TEST, '', 'One more\n\nBecause.\n\nForwarded: no\n')
        self.write_back()
        self.assertTrue(path.read_text().startswith('# Why in this order.\n'))
        self.assertTrue(path.read_text().endswith('one-more.patch\n'))

    def test_file_of_another_topic(self):
        name = next(t for t in self.topics() if t.adds).adds[0]
        self.commit(name, 'spoilt\n', 'Take over\n\nForwarded: no\n')
        error = self.assertRaises(
            errors.Error, refresh.read, self.tree, self.pin.release
        )
        self.assertIn(f'topic take-over changes {name}', str(error))

    def test_file_where_none_may_stand(self):
        self.commit('tools/new.sh', '', 'Add a tool\n\nForwarded: no\n')
        error = self.assertRaises(
            errors.Error, refresh.read, self.tree, self.pin.release
        )
        self.assertIn('topic add-a-tool adds tools/new.sh', str(error))

    def test_nothing_to_fold(self):
        head = assemble.head(self.tree)
        refresh.fold(self.tree, self.topics()[0].name)
        self.assertEqual(head, assemble.head(self.tree))

    def test_fold_into_nothing_known(self):
        error = self.assertRaises(
            errors.UsageError, refresh.fold, self.tree, 'dreams'
        )
        self.assertIn('no topic dreams; there are: ', str(error))

    def test_fold_that_a_later_topic_contradicts_loses_nothing(self):
        name = 'keystone/revoke/core.py'
        path = self.tree / name
        lines = path.read_text().splitlines(keepends=True)
        for word in ('one', 'two'):
            lines[-1] = f'# {word}\n'
            self.commit(name, ''.join(lines), f'{word}\n\nForwarded: no\n')
        lines[-1] = '# three\n'
        path.write_text(''.join(lines))
        head = assemble.head(self.tree)
        error = self.assertRaises(errors.Error, refresh.fold, self.tree, 'one')
        self.assertIn('a topic after one does not apply', str(error))
        self.assertEqual(head, assemble.head(self.tree))
        self.assertEqual('# three\n', path.read_text()[-8:])
