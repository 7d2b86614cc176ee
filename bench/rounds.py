# SPDX-License-Identifier: Apache-2.0

"""Rounds of writes for :mod:`bench.writing`, by name.

Each function takes the admin, which is any object with ``url`` and
``credentials``, and a user, a :class:`bench.cloud.Account`; it returns a
function of a Keystone that sends the requests of a round.
"""

import functools
import json
import uuid

from bench import client


def grants(admin, user):
    """A user who gets a role on the project of another, and loses it."""
    caller = client.token(admin)
    (role,) = client.find(admin, caller, '/roles', {'name': 'member'})
    project = user.credentials['OS_PROJECT_ID']

    def write(keystone):
        made = _new_user(keystone, caller)
        grant = f'/projects/{project}/users/{made}/roles/{role["id"]}'
        client.put(keystone, caller, grant)
        client.delete(keystone, caller, grant)
        client.delete(keystone, caller, f'/users/{made}')

    return write


def users(admin, user):
    """A user who is disabled."""
    caller = client.token(admin)

    def write(keystone):
        path = f'/users/{_new_user(keystone, caller)}'
        body = '{"user": {"enabled": false}}'
        client.request('PATCH', keystone, path, caller, body)
        client.delete(keystone, caller, path)

    return write


def _new_user(keystone, caller):
    body = client.named('user', password=uuid.uuid4().hex)
    return client.create(keystone, caller, '/users', body)['id']


def application_credential(admin, user):
    """An application credential that a user creates and deletes."""
    path = f'/users/{user.credentials["OS_USER_ID"]}/application_credentials'
    caller = client.token(user)

    def write(keystone):
        body = {'application_credential': {'name': uuid.uuid4().hex}}
        client.create_and_delete(keystone, caller, path, body)

    return write


def ec2_credential(admin, user):
    """An EC2 credential that a user creates and deletes."""
    return functools.partial(
        client.create_and_delete,
        caller=client.token(user),
        path=f'/users/{user.credentials["OS_USER_ID"]}/credentials/OS-EC2',
        body={'tenant_id': user.credentials['OS_PROJECT_ID']},
        key='access',
    )


def project(admin, user):
    """The description of a user's project."""
    path = f'/projects/{user.credentials["OS_PROJECT_ID"]}'
    caller = client.token(admin)

    def write(keystone):
        body = json.dumps({'project': {'description': uuid.uuid4().hex}})
        client.request('PATCH', keystone, path, caller, body)

    return write


def token(admin, user):
    """A token that a user has issued for a password, and revokes."""

    def write(keystone):
        made = client.token(user)
        client.revoke(keystone, made, made)

    return write


def password(admin, user):
    """A user's password, which is changed and changed back."""
    path = f'/users/{user.credentials["OS_USER_ID"]}/password'
    own = user.credentials['OS_PASSWORD']

    def write(keystone):
        other = uuid.uuid4().hex
        for old, new in ((own, other), (other, own)):
            body = {'user': {'original_password': old, 'password': new}}
            client.request('POST', keystone, path, body=json.dumps(body))

    return write


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
