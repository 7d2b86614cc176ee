# SPDX-License-Identifier: Apache-2.0

"""Tests of the configuration file, as oslo.config reads it."""

import json
import pathlib

import fixtures
import testtools

from patchset import child
from patchset import environment
from patchset import errors
from patchset import keystone_conf
from patchset import pins

_READ = """
import json, sys
from oslo_config import cfg
conf = cfg.ConfigOpts()
names = json.load(sys.stdin)
conf.register_opts([cfg.StrOpt(name) for name in names], 'g')
conf.register_opt(cfg.MultiStrOpt('many'), 'g')
conf(['--config-file', sys.argv[1]], default_config_dirs=[])
print(json.dumps([[conf.g[name] for name in names], conf.g.many]))
"""


class RenderTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.python = (
            environment.Environment(pins.newest(), 'run').ensure().python
        )

    def test_values_come_back(self):
        values = {
            'plain': 'word',
            'dollar': 'mysql://u:pa$$w$ord@h/${k}',
            'percent': 'p%40%(x)s',
            'hash': '# no comment',
            'space': ' around ',
            'quoted': '"quoted"',
            'number': 4,
        }
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'c')
        many = ['a$b', 'c']
        path.write_text(keystone_conf.render({'g': {**values, 'many': many}}))
        printed = child.run(
            [self.python, '-c', _READ, path], stdin=json.dumps(list(values))
        )
        self.assertEqual(
            [[str(value) for value in values.values()], many],
            json.loads(printed),
        )

    def test_a_second_line_is_refused(self):
        self.assertRaises(
            errors.Error, keystone_conf.render, {'g': {'x': 'a\n[database]'}}
        )


class OptionsTestCase(testtools.TestCase):
    state = pathlib.Path('/state')

    def test_nothing_points_outside_the_state_folder(self):
        text = keystone_conf.render(
            keystone_conf.defaults(self.state, 'sqlite:////state/k.db', None)
        )
        paths = [word for word in text.split() if word.startswith('/')]
        self.assertEqual(7, len(paths))
        for path in paths:
            self.assertTrue(path.startswith('/state/'), path)

    def test_memcached(self):
        options = keystone_conf.defaults(
            self.state, 'sqlite:////k.db', 'memcached://127.0.0.1:11211'
        )
        self.assertEqual(
            {
                'enabled': True,
                'backend': 'dogpile.cache.memcached',
                'memcache_servers': '127.0.0.1:11211',
            },
            options['cache'],
        )

    def test_merge_changes_neither(self):
        base = {'a': {'x': 1, 'y': 2}}
        more = {'a': {'x': 3}, 'b': {'z': 4}}
        self.assertEqual(
            {'a': {'x': 3, 'y': 2}, 'b': {'z': 4}},
            keystone_conf.merge(base, more),
        )
        self.assertEqual({'a': {'x': 1, 'y': 2}}, base)
        self.assertEqual(base, keystone_conf.merge(base, None))
