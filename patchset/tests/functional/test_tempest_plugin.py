# SPDX-License-Identifier: Apache-2.0

"""Tests of the tempest plugin: what stock Keystone breaks, and that it says.

That the patched Keystone keeps every promise is what the part ``smoke`` shows.
"""

import re
import shutil

from patchset import child
from patchset import environment
from patchset import paths
from patchset import test_parts
from patchset.test_parts import tempest
from patchset.tests.unit import base
from revcache_tempest_plugin import promises

# What is broken on every run, whatever the timing; see the topics.
BROKEN = {
    'allow_expired',
    'current_catalog',
    'current_names',
    'grant_removal',
    'revocation_events',
}
# Their tests, and some that stock passes. One after the other: what one test
# makes stock do also empties the caches that another is about.
_EXPRESSION = (
    rf'^{tempest.PLUGIN}\.tests\.(api\.test_'
    r'(events|expired|names|projects|tokens)\.'
    r'|api\.test_catalog\..*_group|api\.test_grants\.Grant)'
)
_BROKEN = re.compile(r'Promise broken \((\w+)\): (.+?) Yet .+\.')
_LISTED = re.compile(r'\|\s*revcache\s*\|\s*revcache_tempest_plugin\.plugin:')


class TempestPluginTestCase(base.RepositoryTestCase):
    def test_installed_package_is_found(self):
        venv = environment.Environment(self.pin.release, 'tempest').ensure()
        for name in ('README.rst', 'pyproject.toml', 'setup.cfg', 'setup.py'):
            shutil.copy(paths.ROOT / name, self.root / name)
        plugin = tempest.PLUGIN
        shutil.copytree(paths.ROOT / plugin, self.root / plugin)
        target = self.root / 'site'
        child.run(
            [
                venv.python, '-m', 'pip', 'install', '--quiet', '--no-deps',
                '--no-index', '--no-build-isolation', '--target', target,
                self.root,
            ],
            env={'PBR_VERSION': '0'},
        )  # fmt: skip
        listing = child.run(
            [venv.bin / 'tempest', 'list-plugins'],
            cwd=self.root,
            env={
                'HOME': str(self.root),
                'PYTHONPATH': str(target),
                'XDG_CACHE_HOME': str(self.root),
            },
        )
        self.assertRegex(listing, _LISTED)

    def test_stock_breaks_promises_and_each_is_named(self):
        report = tempest.run_suite(
            test_parts.Options(pin=self.pin, stock=True, concurrency=1),
            'functional-tempest',
            _EXPRESSION,
            plugin=True,
            quiet=True,
        )
        self.assertEqual(len(report.ids), report.result.total)
        found = {
            test: _BROKEN.search(' '.join(text.split()))
            for test, text in report.failed.items()
        }
        # A failure says what was promised, or it is a fault of the test.
        for test, match in found.items():
            last = report.failed[test].strip().splitlines()[-1:]
            self.assertIsNotNone(match, f'{test}: {last}')
            self.assertEqual(promises.PROMISES[match[1]], match[2])
        self.assertEqual(BROKEN, {match[1] for match in found.values()})
        self.assertNotEqual(set(), report.passed)
