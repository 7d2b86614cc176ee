# SPDX-License-Identifier: Apache-2.0

"""Tests of the series for distributions, applied by quilt."""

import datetime
import email
import os
import re
import shutil

from patchset import assemble
from patchset import child
from patchset import git
from patchset import quilt
from patchset.tests.unit import base

_OWN = """\
Description: A patch of the distribution's own
Author: Somebody <somebody@example.org>
Forwarded: not-needed

--- a/README.rst
+++ b/README.rst
@@ -1,3 +1,4 @@
+Packaged.
 ==================
 OpenStack Keystone
 ==================
"""
_BUG = """\
Mend it

A first paragraph.

 * a list

Closes-Bug: #2150001
Related-Bug: #2150002
Change-Id: I0123456789
Depends: another-topic
Forwarded: https://review.opendev.org/c/openstack/keystone/+/1
"""


class QuiltTestCase(base.RepositoryTestCase):
    """A distribution's source package, with a patch of its own."""

    def setUp(self):
        super().setUp()
        self.tree = self.assemble()
        self.package = self.root / 'package'
        shutil.copytree(self.source, self.package)
        self.patches = self.package / 'debian' / 'patches'
        self.patches.mkdir(parents=True)
        (self.patches / 'own.patch').write_text(_OWN)
        (self.patches / 'series').write_text('own.patch\n')

    def drop_in(self, *only):
        """Do what the guide says; return the names of the patches."""
        folder = self.root / 'out'
        *written, listed = quilt.export(self.tree, self.topics(), folder, only)
        shutil.copytree(
            folder / quilt.SUBFOLDER, self.patches / quilt.SUBFOLDER
        )
        with open(self.patches / 'series', 'a') as series:
            series.write(listed.read_text())
        return [path.relative_to(folder).as_posix() for path in written]

    def quilt(self, *arguments):
        return child.run(
            ['quilt', '--quiltrc', '-', *arguments],
            cwd=self.package,
            env={
                'QUILT_PATCHES': 'debian/patches',
                'QUILT_PATCH_OPTS': '--fuzz=0',  # as dpkg-source has it
                'QUILT_NO_DIFF_TIMESTAMPS': '1',
            },
        )

    def content(self):
        """{name: (bytes, executable)} of the package, its patches apart."""
        return {
            path.relative_to(self.package).as_posix(): (
                path.read_bytes(),
                os.access(path, os.X_OK),
            )
            for path in self.package.rglob('*')
            if path.is_file()
            and path.relative_to(self.package).parts[0]
            not in ('.pc', 'debian')
        }

    def test_quilt_gives_what_assemble_gives_and_takes_it_off(self):
        before = self.content()
        names = self.drop_in()
        self.assertEqual(len(self.topics()), len(names))
        printed = self.quilt('push', '-a')
        self.assertNotIn('offset', printed)
        self.assertEqual(
            ['own.patch', *names], self.quilt('applied').splitlines()
        )
        after = self.content()
        self.assertTrue(after['README.rst'][0].startswith(b'Packaged.\n'))
        for name in git.names(
            self.tree, 'diff', '--name-only', '-z', assemble.BASE, 'HEAD'
        ):
            path = self.tree / name
            self.assertEqual(
                (path.read_bytes(), os.access(path, os.X_OK)), after.pop(name)
            )
        for name, content in after.items():
            if name != 'README.rst':
                self.assertEqual(before[name], content)
        self.quilt('pop', '-a')
        self.assertEqual(before, self.content())

    def test_one_topic_and_what_it_depends_on(self):
        topic = next(topic for topic in self.topics() if topic.depends)
        names = self.drop_in(topic.name)
        self.assertEqual(f'{quilt.SUBFOLDER}/{topic.name}.patch', names[-1])
        self.quilt('push', '-a')
        for name in topic.adds:
            self.assertTrue((self.package / name).exists())

    def test_earlier_export_is_replaced(self):
        folder = self.root / 'out'
        quilt.export(self.tree, self.topics(), folder)
        first = self.topics()[0].name
        quilt.export(self.tree, self.topics(), folder, [first])
        names = [path.name for path in folder.rglob('*') if path.is_file()]
        self.assertEqual(sorted([f'{first}.patch', 'series']), sorted(names))

    def test_headers_are_dep_3(self):
        for name in self.drop_in():
            text = (self.patches / name).read_text()
            head, _, _diff = text.partition('\n---\n')
            for line in head.splitlines():
                self.assertRegex(line, r'^(?:[A-Z][A-Za-z-]+: | )\S')
            fields = email.message_from_string(head)
            self.assertEqual(
                {'Description', 'Author', 'Forwarded', 'Last-Update'},
                set(fields.keys()) - {'Bug'},
            )
            self.assertRegex(fields['Forwarded'], '^(no|https://.+)$')
            datetime.date.fromisoformat(fields['Last-Update'])

    def test_bugs_and_reviews(self):
        path = self.with_hunks().path
        text = path.read_text()
        message = re.search(
            r'(?<=^Subject: \[PATCH\] ).*?(?=^---$)', text, re.M | re.S
        )
        path.write_text(text.replace(message[0], _BUG))
        head = quilt.header(
            next(one for one in self.topics() if one.path == path)
        )
        self.assertTrue(
            head.startswith(
                'Description: Mend it\n A first paragraph.\n .\n  * a list\n'
            ),
            head,
        )
        self.assertIn(
            'Forwarded: https://review.opendev.org/c/openstack/keystone/+/1\n'
            f'Bug: {quilt.BUG}2150001\n'
            f'Bug: {quilt.BUG}2150002\n',
            head,
        )
        self.assertNotIn('another-topic', head)
