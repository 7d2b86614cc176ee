# SPDX-License-Identifier: Apache-2.0

"""Users with passwords, created through the API, several per project."""

import itertools
import uuid

from bench import client
from bench import cloud
from bench import load

_IN_A_PROJECT = 4


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
