# SPDX-License-Identifier: Apache-2.0

"""Users, projects, tokens and catalogs that the experiments require."""

import itertools
import uuid

from bench import client
from bench import cloud
from bench import load

_IN_A_PROJECT = 4
_OF_A_SERVICE = 15  # endpoints: three interfaces in each of five regions


def accounts(keystone, count: int, role: str = 'member') -> list:
    """Make users that have a role in a project each.

    :param keystone: anything with ``url`` and the admin's ``credentials``
    :param role: name of a role that there is
    :returns: list of :class:`bench.cloud.Account`
    """
    caller = client.token(keystone)
    (found,) = client.find(keystone, caller, '/roles', {'name': role})
    projects = client.several(
        lambda: client.create_project(keystone, caller)['id'],
        -(-count // _IN_A_PROJECT),
    )

    def one(project):
        name = uuid.uuid4().hex
        return cloud.user(
            keystone, caller, name, 'default', project, found['id']
        )

    return client.of_each(one, in_turn(projects, range(count)))


def validations(keystone, users: int, count: int) -> list:
    """Make users and tokens: a service's requests that validate these.

    :param users: how many have tokens in turn
    :param count: how many tokens there are
    """
    (service,) = accounts(keystone, 1, 'service')
    subjects = tokens(accounts(keystone, users), count)
    return load.validations(subjects, client.token(service))


def in_turn(accounts, others) -> list:
    """One of the accounts for each of the others, in turn."""
    return [one for one, _ in zip(itertools.cycle(accounts), others)]


def tokens(accounts, count: int) -> list:
    """Have tokens issued by password, to each of the accounts in turn."""
    return client.of_each(client.token, in_turn(accounts, range(count)))


def system_token(keystone) -> str:
    """Have a token of the admin for the system issued."""
    return _token_of(keystone, OS_SYSTEM_SCOPE='all')


def trust_token(keystone) -> str:
    """Make a user whom the admin trusts, and who has a token for that."""
    (trustee,) = accounts(keystone, 1)
    caller = client.token(keystone)
    admin = client.about(keystone, caller)
    body = {
        'trustor_user_id': admin['user']['id'],
        'trustee_user_id': trustee.credentials['OS_USER_ID'],
        'project_id': admin['project']['id'],
        'roles': [{'id': role['id']} for role in admin['roles']],
        'impersonation': False,
    }
    made = client.create(keystone, caller, '/OS-TRUST/trusts', {'trust': body})
    return _token_of(trustee, OS_TRUST_ID=made['id'])


def _token_of(keystone, **variables):
    credentials = {**keystone.credentials, **variables}
    return client.token(cloud.Account(keystone.url, credentials))


def projects(side, count):
    """Make projects in which the admin has the role that it has in its own.

    :returns: list of their ids
    """
    keystone = side.keystone
    caller = client.token(keystone)
    admin = client.about(keystone, caller)
    found = []
    for _ in range(count):
        project = client.create_project(keystone, caller)['id']
        grant = f'users/{admin["user"]["id"]}/roles/{admin["roles"][0]["id"]}'
        client.put(keystone, caller, f'/projects/{project}/{grant}')
        found.append(project)
    return found


def fill_catalog(side, count):
    """Replace the catalog by one with ``count`` endpoints.

    Every third URL has the id of the project in it. The cache is emptied.
    """
    last = -(-count // _OF_A_SERVICE)
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
        f"MD5(CONCAT('service', 1 + (seq - 1) DIV {_OF_A_SERVICE})), "
        "CONCAT('https://service-', seq, '.region.cloud.example.com:8774/v3', "
        "IF(seq DIV 3 MOD 3 = 0, '/%(project_id)s', '')), 1, '{}' "
        f'FROM seq_1_to_{count}'
    )
    side.forget()
