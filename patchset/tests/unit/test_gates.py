# SPDX-License-Identifier: Apache-2.0

"""Tests of the names that others call the commands by: tox and Zuul."""

import configparser
import re

import testtools
import yaml

from patchset import paths
from patchset import pins

# What an OpenStack developer looks for.
NAMES = {
    'py3', 'pep8', 'cover', 'docs', 'releasenotes', 'genconfig', 'upstream',
    'performance', 'functional', 'bench',
}  # fmt: skip


def environments():
    """{name: commands} of tox.ini."""
    parser = configparser.RawConfigParser()
    parser.read(paths.ROOT / 'tox.ini')
    found = {'py3': parser['testenv']['commands']}
    for name in parser.sections():
        if name.startswith('testenv:'):
            found[name.partition(':')[2]] = parser[name]['commands']
    return found


class ToxTestCase(testtools.TestCase):
    def test_each_is_the_command_that_the_guide_names(self):
        guide = paths.ROOT / 'doc/source/contributor/testing.rst'
        named = dict(
            re.findall(
                r'^   \* - ``([a-z0-9]+)``\n     - ``(\./ks .+)``$',
                guide.read_text(),
                re.M,
            )
        )
        self.assertEqual(set(), NAMES - set(named))
        called = {
            name: re.sub(
                r' \{posargs(?::(.+))?\}$',
                lambda match: f' {match[1]}' if match[1] else '',
                commands.replace('{toxinidir}', '.'),
            )
            for name, commands in environments().items()
        }
        self.assertEqual(named, called)


class ZuulTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        content = yaml.safe_load((paths.ROOT / '.zuul.yaml').read_text())
        self.jobs = {
            item['job']['name']: item['job']
            for item in content
            if 'job' in item
        }
        (self.project,) = (
            item['project'] for item in content if 'project' in item
        )

    def pipeline(self, name):
        return {
            job if isinstance(job, str) else next(iter(job))
            for job in self.project[name]['jobs']
        }

    def test_every_job_is_run_and_only_voting_ones_gate(self):
        concrete = {
            name for name, job in self.jobs.items() if not job.get('abstract')
        }
        voting = {
            name for name in concrete if self.jobs[name].get('voting', True)
        }
        self.assertEqual(concrete, self.pipeline('check'))
        self.assertEqual(voting, self.pipeline('gate'))
        self.assertEqual({'revcache-bench'}, concrete - voting)

    def test_tox_jobs(self):
        profiles = set(
            ' '.join(
                re.findall(
                    r'\[platform:dpkg ([a-z ]+)\]',
                    (paths.ROOT / 'bindep.txt').read_text(),
                )
            ).split()
        )
        found = [
            job['vars']
            for job in self.jobs.values()
            if job['parent'] == 'revcache-tox'
        ]
        self.assertEqual(3, len(found))
        for variables in found:
            self.assertIn(variables['tox_envlist'], environments())
            self.assertEqual(
                set(), set(variables['bindep_profile'].split()) - profiles
            )

    def test_devstack_job(self):
        job = self.jobs['revcache-tempest']
        newest = pins.newest()
        self.assertEqual(f'stable/{newest}', job['override-checkout'])
        variables = job['vars']
        self.assertEqual(
            newest, variables['devstack_localrc']['REVCACHE_RELEASE']
        )
        settings = (paths.ROOT / 'devstack/settings').read_text()
        (plugin,) = variables['devstack_plugins']
        self.assertIn(f'\ndefine_plugin {plugin}\n', settings)
        self.assertEqual([plugin], variables['tempest_plugins'])
        for name in ('revcache_tempest_plugin', 'tempest.api.identity'):
            self.assertRegex(f'{name}.tests', variables['tempest_test_regex'])
