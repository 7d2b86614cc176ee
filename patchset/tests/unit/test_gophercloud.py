# SPDX-License-Identifier: Apache-2.0

"""The tests of gophercloud where they cannot be built."""

import pathlib

import fixtures
import testtools

from patchset.test_parts import gophercloud


class NoGoTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        name = 'patchset.test_parts.gophercloud._INSTALLED'
        self.useFixture(fixtures.MonkeyPatch(name, self.folder))
        path = fixtures.EnvironmentVariable('PATH', str(self.folder))
        self.useFixture(path)

    def reason(self):
        """Why the tests are skipped."""
        report = gophercloud.run_suite({}, self.folder / 'log')
        self.assertEqual({'gophercloud'}, report.ids)
        self.assertEqual({'gophercloud'}, set(report.skipped))
        return report.skipped['gophercloud']

    def test_no_go(self):
        self.assertEqual('go is not installed', self.reason())

    def test_old_go(self):
        go = self.folder / 'go'
        go.write_text('#!/bin/sh\necho go1.19.8\n')
        go.chmod(0o755)
        self.assertEqual('go1.19.8 is older than 1.22', self.reason())
