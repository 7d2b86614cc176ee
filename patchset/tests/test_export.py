# SPDX-License-Identifier: Apache-2.0

"""Tests of the series for upstream reviewers."""

import email

from patchset import assemble
from patchset import errors
from patchset import export
from patchset import git
from patchset import pins
from patchset import series
from patchset.tests import base


class ExportTestCase(base.RepositoryTestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.root / 'out'

    def start_with_few(self):
        """Have few topics, and the tree that they make."""
        self.few()
        self.tree = self.assemble()

    def export(self, *only):
        return export.export(self.tree, self.topics(), self.folder, only)

    def am(self, written):
        """Id of what ``git am`` makes of patches on the pristine source."""
        tree = self.root / f'pristine-{self.pin.release}'
        assemble.start(self.source, tree)
        git.git(tree, 'am', '--quiet', *written)
        return git.git(tree, 'rev-parse', 'HEAD^{tree}')

    def test_git_am_gives_what_assemble_gives_for_each_release(self):
        for release in pins.releases():
            self.use(release)
            self.tree = self.assemble()
            written = self.export()
            self.assertEqual(len(self.topics()), len(written))
            self.assertEqual(
                git.git(self.tree, 'rev-parse', 'HEAD^{tree}'),
                self.am(written),
            )

    def test_commits_are_as_upstream_has_them(self):
        self.tree = self.assemble()
        for path, topic in zip(self.export(), self.topics(), strict=True):
            mail = email.message_from_string(path.read_text())
            self.assertIn(topic.subject, mail['Subject'])
            message, diff = series.split(mail.get_payload())
            for key in series.HOUSE_TRAILERS:
                self.assertEqual([], series.trailers(message, key))
            for name in topic.adds:
                self.assertIn(f'diff --git a/{name} b/{name}\n', diff)

    def test_one_topic_and_what_it_depends_on(self):
        self.start_with_few()
        topic = next(topic for topic in self.topics() if topic.depends)
        written = self.export(topic.name)
        names = [path.stem[5:] for path in written]
        self.assertEqual(
            export.closure(self.topics(), [topic.name]), set(names)
        )
        self.assertEqual(topic.name, names[-1])
        self.am(written)

    def test_several_topics_in_the_order_of_the_series(self):
        self.start_with_few()
        topics = self.topics()
        chosen = [
            one.name
            for one in topics
            if not any(one.name in other.depends for other in topics)
        ][-2:]
        written = self.export(*reversed(chosen))
        names = [path.stem[5:] for path in written]
        self.assertEqual(export.closure(topics, chosen), set(names))
        self.assertEqual(
            [one.name for one in topics if one.name in names], names
        )
        self.am(written)

    def test_earlier_export_is_replaced(self):
        self.start_with_few()
        count = len(self.export())
        self.export(self.topics()[0].name)
        self.export()
        self.assertEqual(count, len(list(self.folder.iterdir())))

    def test_unknown_topic(self):
        self.start_with_few()
        error = self.assertRaises(errors.UsageError, self.export, 'dreams')
        self.assertIn('no topic dreams; there are: ', str(error))
