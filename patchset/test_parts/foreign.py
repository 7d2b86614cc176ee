# SPDX-License-Identifier: Apache-2.0

"""Identity tests of OpenStack's clients and SDKs.

These are the functional tests of python-openstackclient, openstacksdk and
python-keystoneclient, as installed with these, and those of gophercloud if Go
is installed. A test that does not pass is repeated on stock, and has failed if
it passes there.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re

from patchset import child
from patchset import environment
from patchset import openrc
from patchset import paths
from patchset import progress
from patchset.test_parts import cloud
from patchset.test_parts import gophercloud
from patchset.test_parts import results
from patchset.test_parts import stestr

PACKAGES = ('integration', 'foreign')
# The lock with what the tests of a project need, and their modules.
SUITES = {
    'openstackclient': (
        'tempest',
        r'openstackclient/tests/functional/identity/v3/test_\w+',
    ),
    'openstacksdk': (
        'test',
        r'openstack/tests/functional/(identity/v3/test_\w+'
        r'|cloud/test_(domain|endpoints|groups|project|roles|services|users))',
    ),
    'keystoneclient': (
        'tempest',
        r'keystoneclient/tests/functional/(v3/)?test_\w+',
    ),
}
GOPHERCLOUD = 'gophercloud'
# What the tests call the clouds; the second account is not an admin's.
_ADMINS = ('devstack-admin', 'devstack-system-admin', 'functional_admin')
_CLOUDS = '.config/openstack/clouds.yaml'
_USERS = ('devstack', 'devstack-alt')
# Its classes use the same names. Its tox.ini runs them serially as well.
_SERIAL = 'openstacksdk'


def run(options):
    total = results.Result()
    with running(options) as home:
        for name in (*SUITES, GOPHERCLOUD):
            result = _run(options, name, home)
            progress.say(f'foreign, {name}: {result}')
            total += result
    return total


def _run(options, name, home):
    report = run_suite(options, name, home, options.expression)
    failed = set(report.failed)
    if failed and not options.stock:
        progress.say(f'{len(failed)} tests that failed here run on stock')
        stock = dataclasses.replace(options, stock=True)
        with running(stock) as there:
            other = run_suite(stock, name, there, stestr.exactly(failed))
        failed &= other.passed
        for test in sorted(failed):
            progress.say(f'FAILED {test}: passes on stock')
            progress.say(f'{report.failed[test]}\n')
    passed = len(report.passed)
    skipped = len(report.ids) - passed - len(failed)
    return results.Result(passed, len(failed), skipped)


def run_suite(options, name, home, expression):
    """Run the tests of a project.

    :param options: a :class:`patchset.test_parts.Options`
    :param name: one of :data:`SUITES`, or :data:`GOPHERCLOUD`
    :param home: home folder, with the ``clouds.yaml`` of the clouds
    :param expression: regular expression that test ids must match, or None
    :returns: a :class:`patchset.test_parts.results.Report`
    """
    label = options.label(f'foreign-{name}')
    if name == GOPHERCLOUD:
        clouds = json.loads((home / _CLOUDS).read_text())['clouds']
        log = paths.BUILD / 'testing' / f'{label}.log'
        return gophercloud.run_suite(
            clouds[_ADMINS[0]]['auth'], log, expression
        )
    lock, pattern = SUITES[name]
    venv = environment.Environment(options.pin.release, lock).ensure()
    suite = stestr.Suite(
        label, venv, home,
        modules=modules(venv, pattern),
        variables={
            'HOME': str(home),
            'XDG_CONFIG_HOME': str(home / '.config'),
            'XDG_CACHE_HOME': str(home / '.cache'),
            'PYTHONWARNINGS': 'ignore',
            'no_proxy': '127.0.0.1',
        },
        group=stestr.BY_CLASS, quiet=True,
    )  # fmt: skip
    concurrency = 1 if name == _SERIAL else options.concurrency
    return suite.run(expression, concurrency=concurrency)


def modules(venv, pattern):
    """Names of the modules in an environment whose paths match."""
    packages = next(venv.path.glob('lib/python*/site-packages'))
    top = pathlib.Path(pattern.partition('/')[0], 'tests', 'functional')
    names = [
        path.relative_to(packages).with_suffix('').as_posix()
        for path in (packages / top).rglob('test_*.py')
    ]
    return [
        name.replace('/', '.') for name in names if re.fullmatch(pattern, name)
    ]


@contextlib.contextmanager
def running(options):
    """Start a cloud with both accounts.

    :returns: a home folder that has its ``clouds.yaml``
    """
    with (
        paths.temporary('ks-foreign-') as folder,
        cloud.start(options) as keystone,
    ):
        admin = keystone.credentials
        user = {**admin, 'OS_USERNAME': 'demo', 'OS_PROJECT_NAME': 'demo'}
        _make_user(keystone, user)
        found = {}
        for names, account in ((_ADMINS, admin), (_USERS, user)):
            found |= json.loads(openrc.clouds(account, *names))['clouds']
        path = folder / _CLOUDS
        path.parent.mkdir(parents=True)
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), 'w') as file:
            json.dump({'clouds': found}, file)
        yield folder


def _make_user(keystone, user):
    """Create the account that is not an admin's."""
    project, name = user['OS_PROJECT_NAME'], user['OS_USERNAME']
    for words in (
        ['project', 'create', project],
        ['user', 'create', f'--password={user["OS_PASSWORD"]}', name],
        ['role', 'add', '--project', project, '--user', name, 'member'],
    ):
        child.run(
            [keystone.environment.bin / 'openstack', *words],
            env=keystone.credentials,
            what=f'openstack {words[0]}',
        )
