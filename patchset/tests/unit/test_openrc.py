# SPDX-License-Identifier: Apache-2.0

"""Tests of the admin's environment, as shells and clients read it."""

import json
import pathlib

import fixtures
import testtools

from patchset import child
from patchset import environment
from patchset import openrc
from patchset import pins

PASSWORD = 'it\'s "$HOME" \\ `id` # ü: {x}'

_READ = """
import json, sys, yaml
print(json.dumps(yaml.safe_load(open(sys.argv[1]))))
"""


class OpenrcTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.variables = openrc.credentials('http://127.0.0.1:1/v3', PASSWORD)

    def test_a_shell_reads_it(self):
        path = self.folder / 'openrc'
        path.write_text(openrc.openrc(self.variables))
        printed = child.run(['sh', '-c', '. "$1" && env -0', 'sh', path])
        seen = dict(item.split('=', 1) for item in printed.split('\0') if item)
        self.assertEqual(
            self.variables, {name: seen.get(name) for name in self.variables}
        )

    def test_a_yaml_reader_reads_it(self):
        path = self.folder / 'clouds.yaml'
        path.write_text(openrc.clouds(self.variables, 'keystone'))
        python = environment.Environment(pins.newest(), 'run').ensure().python
        cloud = child.run([python, '-c', _READ, path])
        self.assertEqual(
            {
                'clouds': {
                    'keystone': {
                        'auth': {
                            'auth_url': 'http://127.0.0.1:1/v3',
                            'username': 'admin',
                            'password': PASSWORD,
                            'user_domain_name': 'Default',
                            'project_name': 'admin',
                            'project_domain_name': 'Default',
                        },
                        'region_name': 'RegionOne',
                        'identity_api_version': 3,
                    }
                }
            },
            json.loads(cloud),
        )
