# SPDX-License-Identifier: Apache-2.0

"""Revocation events that Keystone writes itself, caused through the API."""

import uuid

from bench import client


def revoked_tokens(keystone, count):
    """Have tokens issued and revoked, each by its own holder.

    Keystone writes an event of the token, and one of its chain.
    """

    def one():
        token = client.token(keystone)
        client.revoke(keystone, token, token)

    client.several(one, count)


def deleted_users(keystone, count):
    """Create and delete users."""
    caller = client.token(keystone)

    def one():
        body = {'user': {'name': uuid.uuid4().hex, 'domain_id': 'default'}}
        user = client.create(keystone, caller, '/users', body)
        client.delete(keystone, caller, f'/users/{user["id"]}')

    client.several(one, count)


def deleted_projects(keystone, count):
    """Create and delete projects."""
    caller = client.token(keystone)

    def one():
        project = client.create_project(keystone, caller)
        client.delete(keystone, caller, f'/projects/{project["id"]}')

    client.several(one, count)


def deleted_trusts(keystone, count):
    """Create and delete trusts of the admin for the admin."""
    caller = client.token(keystone)
    about = client.about(keystone, caller)
    body = {
        'trust': {
            'trustor_user_id': about['user']['id'],
            'trustee_user_id': about['user']['id'],
            'project_id': about['project']['id'],
            'impersonation': True,
            'roles': [{'name': 'admin'}],
        }
    }

    def one():
        trust = client.create(keystone, caller, '/OS-TRUST/trusts', body)
        client.delete(keystone, caller, f'/OS-TRUST/trusts/{trust["id"]}')

    client.several(one, count)


#: What has Keystone write events of a kind. It writes none for a domain.
MAKERS = {
    'audit': revoked_tokens,
    'chain': revoked_tokens,
    'user': deleted_users,
    'project': deleted_projects,
    'trust': deleted_trusts,
}
