# SPDX-License-Identifier: Apache-2.0

"""Rounds of writes for :mod:`bench.writing`, by name.

Each function takes the admin, which is any object with ``url`` and
``credentials``, and a user, a :class:`bench.cloud.Account`; it returns the
requests of a round.
"""

import json

from bench import client
from bench import writing

_NEW_USER = {
    'user': {
        'name': '<unique>',
        'password': '<unique>',
        'domain_id': 'default',
    }
}


def grants(admin, user) -> list:
    """A user who gets a role on the project of another, and loses it."""
    caller = client.token(admin)
    (role,) = client.find(admin, caller, '/roles', {'name': 'member'})
    project = user.credentials['OS_PROJECT_ID']
    grant = f'/projects/{project}/users/<user>/roles/{role["id"]}'
    return _with_a_user(
        caller,
        writing.step('PUT', grant, caller),
        writing.step('DELETE', grant, caller),
    )


def users(admin, user) -> list:
    """A user who is disabled."""
    caller = client.token(admin)
    body = {'user': {'enabled': False}}
    return _with_a_user(
        caller, writing.step('PATCH', '/users/<user>', caller, body)
    )


def _with_a_user(caller, *steps):
    """The steps, after a user is created and before the user is deleted."""
    return [
        writing.step('POST', '/users', caller, _NEW_USER, user=('user', 'id')),
        *steps,
        writing.step('DELETE', '/users/<user>', caller),
    ]


def application_credential(admin, user) -> list:
    """An application credential that a user creates and deletes."""
    path = f'/users/{user.credentials["OS_USER_ID"]}/application_credentials'
    return _made(
        path, client.token(user), 'application_credential', 'id',
        {'application_credential': {'name': '<unique>'}},
    )  # fmt: skip


def ec2_credential(admin, user) -> list:
    """An EC2 credential that a user creates and deletes."""
    path = f'/users/{user.credentials["OS_USER_ID"]}/credentials/OS-EC2'
    body = {'tenant_id': user.credentials['OS_PROJECT_ID']}
    return _made(path, client.token(user), 'credential', 'access', body)


def _made(path, caller, kind, key, body):
    """Something that is created and deleted."""
    return [
        writing.step('POST', path, caller, body, made=(kind, key)),
        writing.step('DELETE', f'{path}/<made>', caller),
    ]


def project(admin, user) -> list:
    """The description of a user's project."""
    path = f'/projects/{user.credentials["OS_PROJECT_ID"]}'
    body = {'project': {'description': '<unique>'}}
    return [writing.step('PATCH', path, client.token(admin), body)]


def token(admin, user) -> list:
    """A token that a user has issued for a password, and revokes."""
    body = json.loads(client.login(user))
    return [
        writing.step(
            'POST', '/auth/tokens', body=body, token='X-Subject-Token'
        ),
        writing.step('DELETE', '/auth/tokens', '<token>', subject='<token>'),
    ]


def password(admin, user) -> list:
    """A user's password, which is changed and changed back."""
    path = f'/users/{user.credentials["OS_USER_ID"]}/password'
    own = user.credentials['OS_PASSWORD']
    return [
        writing.step(
            'POST',
            path,
            body={'user': {'original_password': old, 'password': new}},
        )
        for old, new in ((own, '<unique>'), ('<unique>', own))
    ]


#: At a steady pace: what concerns neither the tokens nor their users.
STEADY = {
    'grants': grants,
    'users': users,
    'credentials': application_credential,
    'projects': project,
}
#: In a loop: what one ordinary user can do.
OWN = {
    'own-ec2': ec2_credential,
    'own-application': application_credential,
    'own-token': token,
    'own-password': password,
}
