# SPDX-License-Identifier: Apache-2.0

"""Kinds of writes for :mod:`bench.background`, by name.

Each function takes the admin, which is any object with ``url`` and
``credentials``, and a user, a :class:`bench.cloud.Account`. It returns a
function without arguments that sends the requests of a round.
"""

import functools
import json
import uuid

from bench import client


def grants(admin, user):
    """Create a user, grant it a role on a project of others, and revoke it."""
    caller = client.token(admin)
    (role,) = client.find(admin, caller, '/roles', {'name': 'member'})
    project = user.credentials['OS_PROJECT_ID']

    def write():
        new_user = _create_user(admin, caller)
        grant = f'/projects/{project}/users/{new_user}/roles/{role["id"]}'
        client.request('PUT', admin, grant, caller)
        client.request('DELETE', admin, grant, caller)
        client.request('DELETE', admin, f'/users/{new_user}', caller)

    return write


def users(admin, user):
    """Create a user, disable and delete it."""
    caller = client.token(admin)

    def write():
        path = f'/users/{_create_user(admin, caller)}'
        body = '{"user": {"enabled": false}}'
        client.request('PATCH', admin, path, caller, body)
        client.request('DELETE', admin, path, caller)

    return write


def _create_user(keystone, caller):
    body = client.named_body('user', password=uuid.uuid4().hex)
    return client.create(keystone, caller, '/users', body)['id']


def application_credential(admin, user):
    """Create an application credential as the user, and delete it."""
    path = f'/users/{user.credentials["OS_USER_ID"]}/application_credentials'
    caller = client.token(user)

    def write():
        body = {'application_credential': {'name': uuid.uuid4().hex}}
        client.create_and_delete(user, caller, path, body)

    return write


def ec2_credential(admin, user):
    """Create an EC2 credential as the user, and delete it."""
    path = f'/users/{user.credentials["OS_USER_ID"]}/credentials/OS-EC2'
    body = {'tenant_id': user.credentials['OS_PROJECT_ID']}
    return functools.partial(
        client.create_and_delete, user, client.token(user), path, body,
        key='access',
    )  # fmt: skip


def project(admin, user):
    """Change the description of the user's project."""
    path = f'/projects/{user.credentials["OS_PROJECT_ID"]}'
    caller = client.token(admin)

    def write():
        body = json.dumps({'project': {'description': uuid.uuid4().hex}})
        client.request('PATCH', admin, path, caller, body)

    return write


def token(admin, user):
    """Issue a token for the user's password, and revoke it."""

    def write():
        issued = client.token(user)
        client.revoke(user, issued, issued)

    return write


def password(admin, user):
    """Change the user's password, and change it back."""
    path = f'/users/{user.credentials["OS_USER_ID"]}/password'
    first = user.credentials['OS_PASSWORD']

    def write():
        second = uuid.uuid4().hex
        for old, new in ((first, second), (second, first)):
            body = {'user': {'original_password': old, 'password': new}}
            client.request('POST', user, path, body=json.dumps(body))

    return write


#: At a constant rate: writes unrelated to the tokens and their users.
AT_RATE = {
    'grants': grants,
    'users': users,
    'credentials': application_credential,
    'projects': project,
}
#: In a loop: writes that any user can make.
IN_LOOP = {
    'own-ec2': ec2_credential,
    'own-application': application_credential,
    'own-token': token,
    'own-password': password,
}
