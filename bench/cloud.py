# SPDX-License-Identifier: Apache-2.0

"""An existing Keystone, and the account created there to measure it."""

import contextlib
import dataclasses
import secrets
import urllib.parse

from bench import client
from patchset import errors
from patchset import progress

_ROLES = ('member', 'reader')  # the first one that exists is granted


@dataclasses.dataclass(frozen=True)
class Account:
    """An account of an existing Keystone.

    :param url: URL of the API, with the version
    :param credentials: dict of OS_* variables
    """

    url: str
    credentials: dict = dataclasses.field(repr=False)


def normalise(url):
    """URL of the API, with the version and without a slash at the end.

    :raises patchset.errors.UsageError: it is not an HTTP URL
    """
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ('http', 'https') or not parts.hostname:
        raise errors.UsageError(f'{url} is not the HTTP URL of an API')
    url = url.rstrip('/')
    return url if url.endswith('/v3') else f'{url}/v3'


@contextlib.contextmanager
def account(admin):
    """Create a user with a role on a project; remove both at the end.

    :param admin: an :class:`Account` with the required permissions
    :returns: the :class:`Account` of the user
    :raises patchset.errors.Error: they cannot be created or removed
    """
    token = client.token(admin)
    domain = client.token_data(admin, token)['user']['domain']['id']
    role = _role(admin, token)
    name = f'ks-bench-{secrets.token_hex(4)}'
    progress.step(f'creating the project and the user {name}')
    with contextlib.ExitStack() as stack:
        # Before: an interrupted request may have succeeded.
        stack.callback(_remove, admin, 'project', name, domain)
        body = {'project': {'name': name, 'domain_id': domain}}
        project = client.create(admin, token, '/projects', body)['id']
        stack.callback(_remove, admin, 'user', name, domain)
        yield user(admin, token, name, domain, project, role)


def user(admin, token, name, domain_id, project_id, role_id):
    """Create a user with a password and a role on a project.

    :param admin: anything with ``url`` and the admin's ``credentials``
    :param token: the admin's token
    :returns: the user's :class:`Account`
    """
    password = secrets.token_urlsafe(18)
    body = {'name': name, 'password': password, 'domain_id': domain_id}
    user_id = client.create(admin, token, '/users', {'user': body})['id']
    grant = f'/projects/{project_id}/users/{user_id}/roles/{role_id}'
    client.request('PUT', admin, grant, token)
    variables = {
        'OS_USER_ID': user_id,
        'OS_PASSWORD': password,
        'OS_PROJECT_ID': project_id,
        'OS_CACERT': admin.credentials.get('OS_CACERT'),
    }
    return Account(admin.url, variables)


def _role(admin, token):
    """Id of the role that is granted to the user."""
    for name in _ROLES:
        for role in client.find(admin, token, '/roles', {'name': name}):
            return role['id']
    raise errors.Error(f'{admin.url} has no role {" or ".join(_ROLES)}')


def _remove(admin, kind, name, domain):
    """Remove the resources with a name, with a new token."""
    try:
        token = client.token(admin)
        query = {'name': name, 'domain_id': domain}
        for resource in client.find(admin, token, f'/{kind}s', query):
            client.request(
                'DELETE', admin, f'/{kind}s/{resource["id"]}', token
            )
    except errors.Error as error:
        raise errors.Error(f'the {kind} {name} was not removed: {error}')
    progress.step(f'the {kind} {name} was removed')
