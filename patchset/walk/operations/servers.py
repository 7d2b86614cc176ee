# SPDX-License-Identifier: Apache-2.0

"""What operators do: keystone-manage, restarts and keys."""

from patchset.walk import names
from patchset.walk.story import NUMBER
from patchset.walk.story import Absent
from patchset.walk.story import operation

# Those of the default domain, which the command knows alone.
_USERS = [name for name, of in names.USERS.items() if of == names.DEFAULT]
_PROJECTS = [
    name for name, (of, _) in names.PROJECTS.items() if of == names.DEFAULT
]


@operation(
    'keystone-manage', 3, user=_USERS, project=_PROJECTS,
    role=names.ROLES, number=NUMBER,
)  # fmt: skip
def bootstrap(side, user, project, role, number):
    """Set a password, enable the user and grant a role on a project."""
    shown = {}
    for name, kind in ((user, 'user'), (project, 'project'), (role, 'role')):
        path = f'/{kind}s/{side.id(name)}'
        answer = side.ask('GET', path)
        if answer.status != 200:
            raise Absent(name)
        shown[kind] = answer.body[kind]['name']
    password = f'password-{number}'
    status = side.manage(
        'bootstrap',
        '--bootstrap-username', shown['user'],
        '--bootstrap-password', password,
        '--bootstrap-project-name', shown['project'],
        '--bootstrap-role-name', shown['role'],
    )  # fmt: skip
    side.kept[user] = password
    return status


@operation('keystone-manage', 1)
def flush_trusts(side):
    return side.manage('trust_flush')


@operation('keys', 1)
def rotate_keys(side):
    return side.rotate_keys()


@operation('restarts', 1, processes=True, number=('1', '2'))
def restart_node(side, number):
    return side.restart_node(int(number) - 1)


@operation('restarts', 1)
def restart_memcached(side):
    return side.empty_cache()
