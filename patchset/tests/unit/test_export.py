# SPDX-License-Identifier: Apache-2.0

"""Tests of the series for upstream reviewers."""

import email
import email.policy
import email.utils
import re
import shutil

from patchset import assemble
from patchset import errors
from patchset import export
from patchset import git
from patchset import pins
from patchset import series
from patchset import signing
from patchset.tests.unit import base

_BUGS = ('Closes-Bug', 'Partial-Bug', 'Related-Bug')


class SeriesTestCase(base.RepositoryTestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.root / 'out'

    def start_with_few(self):
        """Have few topics, and the tree that they make."""
        self.few()
        self.tree = self.assemble()

    def export(self, *only, **options):
        return export.export(
            self.tree, self.topics(), self.folder, only, **options
        )

    def am(self, written):
        """Id of what ``git am`` makes of patches on the pristine source."""
        tree = self.root / f'pristine-{self.pin.release}'
        shutil.rmtree(tree, ignore_errors=True)
        assemble.start(self.source, tree)
        git.git(tree, 'am', '--quiet', *written)
        return git.git(tree, 'rev-parse', 'HEAD^{tree}')


class ExportTestCase(SeriesTestCase):
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

    def test_each_stack_applies_without_the_others(self):
        self.tree = self.assemble()
        topics = self.topics()
        for stack, needs in series.STACKS.items():
            names = [one.name for one in topics if one.stack == stack]
            written = self.export(*names)
            found = {path.stem[5:] for path in written}
            self.assertLessEqual({*names}, found)
            self.assertLessEqual(
                {one.stack for one in topics if one.name in found},
                {stack, *needs},
            )
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


_ZOE = ('Zoë Müller', 'zoe@example.org')


class SignedExportTestCase(SeriesTestCase):
    """What ``--signoff`` makes of the mails."""

    def mails(self):
        """(headers, commit message) of each mail of a signed export."""
        found = []
        for path in self.export(signed_by=_ZOE):
            mail = email.message_from_bytes(
                path.read_bytes(), policy=email.policy.default
            )
            message, _ = series.split(mail.get_payload(decode=True).decode())
            found.append((mail, f'subject\n\n{message.strip()}\n'))
        return found

    def test_author_signature_and_change_id(self):
        self.start_with_few()
        mails = self.mails()
        for (mail, message), topic in zip(mails, self.topics(), strict=True):
            self.assertEqual(_ZOE, email.utils.parseaddr(mail['From']))
            self.assertEqual(
                ['Zoë Müller <zoe@example.org>'],
                series.trailers(message, 'Signed-off-by'),
            )
            self.assertEqual(
                [signing.change_id(topic)],
                series.trailers(message, 'Change-Id'),
            )
        self.am(sorted(self.folder.iterdir()))

    def test_twice_is_the_same(self):
        self.start_with_few()
        first = [path.read_bytes() for path in self.export(signed_by=_ZOE)]
        second = [path.read_bytes() for path in self.export(signed_by=_ZOE)]
        self.assertEqual(first, second)

    def test_no_change_id_without_a_signature(self):
        self.start_with_few()
        for path in self.export():
            self.assertNotIn('Change-Id: ', path.read_text())
            self.assertNotIn('Signed-off-by: ', path.read_text())

    def test_command(self):
        self.few()
        out = self.root / 'out'
        arguments = ('export', '--output', str(out), '--signoff')
        for bad in ('Zoë', 'zoe@example.org', ' <zoe@example.org>', 'A <b>'):
            done = self.ks(*arguments, bad)
            self.assertEqual(2, done.returncode, done.stderr)
            self.assertIn('must have the form "Name <address>"', done.stderr)
        done = self.ks(*arguments, 'A <b@c>', '--format', 'quilt')
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertIn('--signoff requires --format git', done.stderr)
        self.assertFalse(out.exists())
        done = self.ks(*arguments, 'A <b@c>')
        self.assertEqual(0, done.returncode, done.stderr)
        for path in out.iterdir():
            self.assertIn('\nSigned-off-by: A <b@c>\n---\n', path.read_text())
        private = done.stderr.partition('private security bug first:\n')[2]
        self.assertEqual(
            [topic.name for topic in export.security(self.topics())],
            [line.split()[-1] for line in private.splitlines()],
        )


class MessageTestCase(base.RepositoryTestCase):
    """The messages of all releases."""

    def setUp(self):
        super().setUp()
        self.all = {}
        for release in pins.releases():
            self.use(release)
            for topic in self.topics():
                self.all.setdefault(topic.name, []).append(topic)

    def test_bugs_are_numbers_and_the_same_in_each_release(self):
        for name, topics in self.all.items():
            bugs = {
                tuple(
                    (key, value)
                    for key in _BUGS
                    for value in series.trailers(topic.message, key)
                )
                for topic in topics
            }
            self.assertEqual(1, len(bugs), name)
            for _, value in bugs.pop():
                self.assertTrue(re.fullmatch('#[0-9]{7}', value), name)


class SecurityTestCase(base.RepositoryTestCase):
    def setUp(self):
        super().setUp()
        self.few()

    def security(self):
        return [one.name for one in export.security(self.topics(), self.root)]

    def test_notes_with_a_security_section(self):
        self.assertEqual(
            ['request-local-cache', 'auth-context-per-request'],
            self.security(),
        )
        note = next(
            self.root / name
            for topic in self.topics()
            for name in topic.adds
            if name.startswith('releasenotes/notes/bug-auth-context')
        )
        self.substitute(note, '^security:', 'fixes:')
        self.assertEqual(['request-local-cache'], self.security())

    def test_table(self):
        found = export.security_by_topic(self.root)
        self.assertEqual(
            ['auth-context-per-request', 'request-local-cache'], [*found]
        )
        subject, releases = found['request-local-cache']
        self.assertEqual([self.pin.release], releases)
        self.assertIn(subject, [topic.subject for topic in self.topics()])
