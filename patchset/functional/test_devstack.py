# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Tests of the DevStack plugin that install packages."""

from patchset import git
from patchset.tests import test_devstack


class PackagingTestCase(test_devstack.DevstackTestCase):
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
        (self.patches / 'entry-point.patch').write_text(patch)
        with open(self.patches / 'series', 'a') as listed:
            listed.write('entry-point.patch\n')

    def drop_topic(self):
        """Take that topic out of the copy again, as a newer plugin might."""
        (self.patches / 'entry-point.patch').unlink()
        self.substitute(self.patches / 'series', r'^entry-point\.patch\n', '')

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
