# SPDX-License-Identifier: Apache-2.0

"""The identity tests of gophercloud, the client library for Go.

Go verifies the module and its dependencies with its checksum database.
"""

import json
import re
import subprocess

from patchset import child
from patchset import errors
from patchset import paths
from patchset import progress
from patchset.test_parts import results

# The newest version that the Go of Debian 13 builds.
_MODULE = 'github.com/gophercloud/gophercloud/v2@v2.10.0'
_OLDEST = (1, 22)
_TESTS = './internal/acceptance/openstack/identity/v3'
_INSTALLED = '/usr/local/go/bin'  # where Go's own archive belongs
_STATUSES = {'pass': 'success', 'fail': 'fail', 'skip': 'skip'}
_FOLDER = paths.BUILD / 'go'
_VARIABLES = {
    'GOPATH': str(_FOLDER),
    'GOCACHE': str(_FOLDER / 'cache'),
    'GOFLAGS': '-modcacherw',
    'GOTOOLCHAIN': 'local',
}


def run_suite(account, log, expression=None):
    """Run the tests.

    :param account: an admin's, as in the ``auth`` of a ``clouds.yaml``
    :param log: path of the file that receives the output
    :param expression: regular expression that test ids must match, or None
    :returns: a :class:`patchset.test_parts.results.Report`
    """
    try:
        go = _go()
    except errors.NotInstalled as error:
        report = results.Report(frozenset(['gophercloud']))
        report.add('gophercloud', 'skip', str(error))
        progress.say(f'gophercloud: skipped: {error}')
        return report
    with progress.stage('building the tests of gophercloud'):
        source = child.run(
            [go, 'mod', 'download', '-json', _MODULE], env=_VARIABLES
        )
        folder = f'{json.loads(source)["Dir"]}/{_TESTS}'
        tests = _FOLDER / 'identity.test'
        child.run(
            [go, 'test', '-c', '-tags=acceptance', '-o', tests, '.'],
            cwd=folder, env=_VARIABLES,
        )  # fmt: skip
    names = child.run([tests, '-test.list=.'], cwd=folder).split()
    ids = {one for one in names if re.search(expression or '', one)}
    report = results.Report(frozenset(ids))
    if ids:
        _run([go, 'tool', 'test2json', tests], ids, account, folder, log)
        for line in log.read_text().splitlines():
            event = json.loads(line)
            if event['Action'] in _STATUSES and event.get('Test') in ids:
                report.add(event['Test'], _STATUSES[event['Action']], '')
    return report


def _run(command, ids, account, folder, log):
    """Let the tests write an event per line."""
    variables = {f'OS_{key.upper()}': account[key] for key in account}
    variables |= {
        'OS_DOMAIN_NAME': account['user_domain_name'],
        'OS_REGION_NAME': 'RegionOne',
        'no_proxy': '127.0.0.1',
    }
    log.parent.mkdir(parents=True, exist_ok=True)
    chosen = f'-test.run=^({"|".join(sorted(ids))})$'
    with (
        open(log, 'w') as output,
        child.start(
            [*command, '-test.v=test2json', chosen],
            cwd=folder,
            env={**child.variables(), **_VARIABLES, **variables},
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as tests,
        progress.stage(f'gophercloud: {len(ids)} tests'),
    ):
        tests.wait()


def _go():
    """Path of Go.

    :raises patchset.errors.NotInstalled: it is missing or too old
    """
    go = child.find('go', _INSTALLED)
    version = child.run([go, 'env', 'GOVERSION'], env=_VARIABLES).strip()
    if tuple(map(int, re.findall(r'\d+', version)[:2])) < _OLDEST:
        oldest = '.'.join(map(str, _OLDEST))
        raise errors.NotInstalled(f'{version} is older than {oldest}')
    return go
