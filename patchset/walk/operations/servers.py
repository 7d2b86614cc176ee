# SPDX-License-Identifier: Apache-2.0

"""Operations of an operator: keystone-manage, restarts and keys."""

from patchset.client import Answer
from patchset.walk import names
from patchset.walk import steps

# Those of the default domain: the command supports no other one.
_USERS = [name for name, of in names.USERS.items() if of == names.DEFAULT]
_PROJECTS = [
    name for name, (of, _) in names.PROJECTS.items() if of == names.DEFAULT
]


@steps.operation('keystone-manage', 3, user=_USERS, project=_PROJECTS)
def bootstrap(side, user, project, role, number):
    """Set a password, enable the user and grant a role on a project."""
    actual = {}
    for name, kind in ((user, 'user'), (project, 'project'), (role, 'role')):
        path = f'/{kind}s/{side.id(name)}'
        answer = side.request('GET', path)
        if answer.status != 200:
            raise steps.NotApplicable(name)
        actual[kind] = answer.body[kind]['name']
    password = f'password-{number}'
    status = side.manage(
        'bootstrap',
        '--bootstrap-username', actual['user'],
        '--bootstrap-password', password,
        '--bootstrap-project-name', actual['project'],
        '--bootstrap-role-name', actual['role'],
    )  # fmt: skip
    side.details[user] = password
    return status


@steps.operation('keystone-manage', 1)
def flush_trusts(side):
    return side.manage('trust_flush')


@steps.operation('keys', 1)
def rotate_keys(side):
    return Answer(side.testbed.rotate_keys(side.name))


@steps.operation('restarts', 1, processes=True, number=('1', '2'))
def restart_node(side, number):
    if side.name == 'patched':
        side.testbed.restart(f'node {number}')


@steps.operation('restarts', 1)
def restart_memcached(side):
    return side.flush_cache()
