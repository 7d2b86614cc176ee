# SPDX-License-Identifier: Apache-2.0

"""Users and groups."""

from patchset.walk import names
from patchset.walk import steps

FIRST_PASSWORD = 'password-0'


@steps.operation('users', 3)
def create_user(side, user):
    side.require_absent(user)
    side.details[user] = FIRST_PASSWORD
    domain = side.id(names.USERS[user])
    return side.create(
        'user', user, name=user, domain_id=domain, password=FIRST_PASSWORD
    )


steps.usual_operations(
    'users', 'user',
    rename=2, describe=2, disable=3, enable=6, delete=1,
)  # fmt: skip


@steps.operation('users')
def set_default_project(side, user, project):
    return side.update('user', user, default_project_id=side.id(project))


@steps.operation('users')
def reset_password(side, user, number):
    password = f'password-{number}'
    answer = side.update('user', user, password=password)
    if answer.status == 200:
        side.details[user] = password
    return answer


@steps.operation('users')
def change_own_password(side, user, number):
    password = f'password-{number}'
    body = {'password': password, 'original_password': side.details.get(user)}
    path = f'/users/{side.id(user)}/password'
    answer = side.request('POST', path, {'user': body})
    if answer.status == 204:
        side.details[user] = password
    return answer


steps.usual_operations(
    'groups', 'group',
    lambda side, name: {'domain_id': side.id(names.GROUPS[name])},
    create=2, delete=1,
)  # fmt: skip


@steps.put_and_delete('groups', {'add_member': 4, 'remove_member': 3})
def _member(side, group, user):
    return f'/groups/{side.id(group)}/users/{side.id(user)}'
