# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools

from patchset.test_parts import lint

_GOOD = (
    """\
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: Some One <one@example.org>
Date: Fri, 20 Nov 2026 12:00:00 +0000
Subject: [PATCH] Say it once

It was said twice.

Adds: keystone/tests/unit/with/a/long/path/that/no/line/of/prose/may/have.py
Forwarded: no
---
diff --git a/keystone/a.py b/keystone/a.py
--- a/keystone/a.py
+++ b/keystone/a.py
@@ -1,3 +1,3 @@
 first
-second
+2nd

"""[:-1]
    + ' \n'
)


class PatchFormTestCase(testtools.TestCase):
    def find(self, text):
        folder = self.useFixture(fixtures.TempDir()).path
        path = pathlib.Path(folder) / 'topic.patch'
        path.write_bytes(text.encode('latin-1'))
        return lint.patch_faults(path)

    def test_good(self):
        self.assertEqual('', self.find(_GOOD))

    def test_overlay_alone(self):
        text = _GOOD[: _GOOD.index('diff --git')]
        self.assertEqual('', self.find(text))

    def test_bad(self):
        for old, new, expected in (
            ('twice', 'tw\xefce', 'not UTF-8'),
            ('twice.\n', 'twice.\r\n', 'carriage returns'),
            ('+2nd\n', '+2nd \n', 'line 17: adds trailing whitespace'),
            (' \n', ' \n-- \n2.39\n', 'ends with a mail signature'),
            (' \n', ' \n\n', 'exactly one newline'),
            ('+2nd\n', '', 'corrupt patch'),
            ('Subject: [PATCH] Say it once\n', '', 'no Subject in the header'),
            ('Date: Fri', 'Data: Fri', 'no Date in the header'),
            ('It was', 'It ' + 20 * 'was ', 'message line wider than 72'),
        ):
            text = _GOOD.replace(old, new)
            self.assertNotEqual(_GOOD, text)
            self.assertIn(expected, self.find(text))
