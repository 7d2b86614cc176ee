# SPDX-License-Identifier: Apache-2.0

"""Tests of reading patches' headers."""

import pathlib

import fixtures
import testtools

from patchset import series

_MESSAGE = """Match everything

It was not matched: see below.

Closes-Bug: #1
Adds: keystone/a.py
Adds: keystone/b.py
Depends: other
Forwarded: no
"""


class TrailersTestCase(testtools.TestCase):
    def test_values_in_order(self):
        self.assertEqual(
            ['keystone/a.py', 'keystone/b.py'],
            series.trailers(_MESSAGE, 'Adds'),
        )
        self.assertEqual([], series.trailers(_MESSAGE, 'Topic'))

    def test_only_the_last_paragraph_counts(self):
        message = 'Subject\n\nAdds: keystone/a.py\n\nThe end.\n'
        self.assertEqual([], series.trailers(message, 'Adds'))

    def test_replace_keeps_foreign_trailers(self):
        self.assertEqual(
            'Match everything\n\nIt was not matched: see below.\n\n'
            'Closes-Bug: #1\n',
            series.replace_trailers(_MESSAGE, series.HOUSE_TRAILERS),
        )

    def test_replace_adds_a_paragraph_where_there_is_none(self):
        self.assertEqual(
            'Subject\n\nWhy: because.\nIt is so.\n\nTopic: t\n',
            series.replace_trailers(
                'Subject\n\nWhy: because.\nIt is so.\n\n',
                ('Topic',),
                ['Topic: t'],
            ),
        )

    def test_replace_of_a_bare_subject(self):
        self.assertEqual(
            'Subject\n\nTopic: t\n',
            series.replace_trailers('Subject\n', ('Topic',), ['Topic: t']),
        )

    def test_replace_twice_is_the_same(self):
        once = series.replace_trailers(_MESSAGE, ('Topic',), ['Topic: t'])
        self.assertEqual(
            once, series.replace_trailers(once, ('Topic',), ['Topic: t'])
        )


class SplitTestCase(testtools.TestCase):
    def test_message_and_diff(self):
        body = 'Why.\n\nForwarded: no\n---\n\ndiff --git a/x b/x\n-a\n+b\n'
        message, diff = series.split(body)
        self.assertEqual('Why.\n\nForwarded: no\n', message)
        self.assertEqual('diff --git a/x b/x\n-a\n+b\n', diff)

    def test_no_diff(self):
        self.assertEqual(('Why.\n', ''), series.split('Why.\n---\n'))


class WithoutTestCase(testtools.TestCase):
    def test_reasons_in_one_line_and_in_several(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for stack in series.STACKS:
            (folder / '2000.1' / stack).mkdir(parents=True)
            (folder / '2000.1' / stack / 'series').touch()
        (folder / '2000.1' / 'base' / 'series').write_text(
            '# Why in this order.\n'
            '# without a-topic: upstream has it: since 1.0\n'
        )
        (folder / '2000.1' / 'cache' / 'series').write_text(
            '# without another: it needs what came\n#   later\n#   on\n'
            '# with comment: none of these\none.patch # without x: y\n'
        )
        self.assertEqual(
            {
                'a-topic': 'upstream has it: since 1.0',
                'another': 'it needs what came later on',
            },
            series.without('2000.1', folder),
        )


class LoadTestCase(testtools.TestCase):
    def test_diff_that_is_not_ascii(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        diff = 'diff --git a/f b/f\n@@ -1 +1 @@\n-\u2014\n+\u2192\n'
        path = folder / 't.patch'
        path.write_text(
            f'From {"0" * 40} Mon Sep 17 00:00:00 2001\n'
            f'From: A <a@example.org>\n'
            f'Date: Mon, 2 Nov 2026 09:00:00 +0000\n'
            f'Subject: [PATCH] Say why\n\nBecause.\n---\n{diff}',
            encoding='utf-8',
        )

        self.assertEqual(diff, series.parse(path).diff)
