# SPDX-License-Identifier: Apache-2.0

"""Users, projects, tokens and catalogs that the experiments require."""

import itertools
import uuid

from bench import client
from bench import cloud
from bench import load

_USERS_PER_PROJECT = 4
_ENDPOINTS_PER_SERVICE = 15  # three interfaces in each of five regions


def accounts(keystone, count: int, role_name: str = 'member') -> list:
    """Create users with a role on a project each.

    :param keystone: anything with ``url`` and the admin's ``credentials``
    :param role_name: name of an existing role
    :returns: list of :class:`bench.cloud.Account`
    """
    caller = client.token(keystone)
    (role,) = client.find(keystone, caller, '/roles', {'name': role_name})
    projects = client.call_concurrently(
        lambda: client.create_project(keystone, caller)['id'],
        -(-count // _USERS_PER_PROJECT),
    )

    def create(project):
        name = uuid.uuid4().hex
        return cloud.user(
            keystone, caller, name, 'default', project, role['id']
        )

    return client.map_concurrently(create, round_robin(projects, count))


def validations(keystone, users: int, count: int) -> list:
    """Create users and tokens: the requests of a service to validate them.

    :param users: number of users
    :param count: number of tokens
    """
    (service,) = accounts(keystone, 1, 'service')
    subjects = tokens(accounts(keystone, users), count)
    return load.validations(subjects, client.token(service))


def round_robin(items, count: int) -> list:
    """``count`` items, starting again at the first one after the last."""
    return list(itertools.islice(itertools.cycle(items), count))


def tokens(accounts, count: int) -> list:
    """Issue tokens for passwords, to the accounts by round robin."""
    return client.map_concurrently(client.token, round_robin(accounts, count))


def system_token(keystone) -> str:
    """Issue a token of the admin for the system."""
    return _token_of(keystone, OS_SYSTEM_SCOPE='all')


def trust_token(keystone) -> str:
    """Create a user and a trust of the admin, and issue a token of it."""
    (trustee,) = accounts(keystone, 1)
    caller = client.token(keystone)
    admin = client.token_data(keystone, caller)
    body = {
        'trustor_user_id': admin['user']['id'],
        'trustee_user_id': trustee.credentials['OS_USER_ID'],
        'project_id': admin['project']['id'],
        'roles': [{'id': role['id']} for role in admin['roles']],
        'impersonation': False,
    }
    trust = client.create(
        keystone, caller, '/OS-TRUST/trusts', {'trust': body}
    )
    return _token_of(trustee, OS_TRUST_ID=trust['id'])


def _token_of(keystone, **variables):
    credentials = {**keystone.credentials, **variables}
    return client.token(cloud.Account(keystone.url, credentials))


def projects(side, count):
    """Create projects on which the admin has the same role as on its own.

    :returns: list of ids
    """
    keystone = side.keystone
    caller = client.token(keystone)
    admin = client.token_data(keystone, caller)
    ids = []
    for _ in range(count):
        project = client.create_project(keystone, caller)['id']
        grant = f'users/{admin["user"]["id"]}/roles/{admin["roles"][0]["id"]}'
        client.request('PUT', keystone, f'/projects/{project}/{grant}', caller)
        ids.append(project)
    return ids


def fill_catalog(side, count):
    """Replace the catalog by one with ``count`` endpoints.

    Every third URL contains the id of the project. The cache is flushed.
    """
    last = -(-count // _ENDPOINTS_PER_SERVICE)
    side.query(
        'DELETE FROM endpoint; DELETE FROM service; '
        'INSERT IGNORE INTO region (id, description, extra) '
        "SELECT CONCAT('region-', seq), '', '{}' FROM seq_0_to_4; "
        'INSERT INTO service (id, type, enabled, extra) '
        "SELECT MD5(CONCAT('service', seq)), CONCAT('type-', seq), 1, "
        """CONCAT('{"name": "service-', seq, '"}') """
        f'FROM seq_1_to_{last}; '
        'INSERT INTO endpoint (id, interface, region_id, service_id, url, '
        "enabled, extra) SELECT MD5(CONCAT('endpoint', seq)), "
        "ELT(1 + seq MOD 3, 'public', 'internal', 'admin'), "
        "CONCAT('region-', seq DIV 3 MOD 5), "
        f"MD5(CONCAT('service', 1 + (seq - 1) DIV {_ENDPOINTS_PER_SERVICE})), "
        "CONCAT('https://service-', seq, '.region.cloud.example.com:8774/v3', "
        "IF(seq DIV 3 MOD 3 = 0, '/%(project_id)s', '')), 1, '{}' "
        f'FROM seq_1_to_{count}'
    )
    side.flush_cache()
