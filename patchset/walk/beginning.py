# SPDX-License-Identifier: Apache-2.0

"""How each story begins: with something to be about."""

from patchset.walk import names
from patchset.walk import side
from patchset.walk.operations import ldap
from patchset.walk.operations import tokens
from patchset.walk.story import Step

_SERVICE, _READER = 'u5', 'u4'


def steps():
    """The first steps of every story: a list."""
    first = [Step('create_domain', {'domain': name}) for name in names.DOMAINS]
    first.append(Step('configure_ldap', {}))
    first += [Step('add_ldap_user', {'user': name}) for name in ldap.USERS]
    first += [Step('add_ldap_group', {'group': name}) for name in ldap.GROUPS]
    for kind, every in (
        ('project', names.PROJECTS),
        ('user', names.USERS),
        ('group', names.GROUPS),
        ('role', names.ROLES),
        ('service', names.SERVICES),
    ):
        first += [Step(f'create_{kind}', {kind: name}) for name in every]
    for number, name in enumerate(names.ENDPOINTS):
        interface = ('public', 'internal')[number % 2]
        first.append(
            Step('create_endpoint', {'endpoint': name, 'interface': interface})
        )
    for user in names.USERS:
        first += [
            _grant(f'users:{user}', f'projects:{project}', 'member')
            for project in names.PROJECTS
        ]
    for group, domain in names.GROUPS.items():
        first.append(_grant(f'groups:{group}', 'projects:p4', 'r1'))
        first.append(_grant(f'groups:{group}', f'domains:{domain}', 'r2'))
    return first + _callers()


def _callers():
    """Tokens that may validate others, beside the admin's."""
    return [
        _grant(f'users:{_SERVICE}', 'projects:p4', 'service'),
        Step(
            'grant_on_system', {'holder': f'users:{_READER}', 'role': 'reader'}
        ),
        _issue(tokens.SERVICE, _SERVICE, 'project:p4'),
        _issue(tokens.READER, _READER, 'system'),
    ]


def _issue(token, user, scope):
    arguments = {'user': user, 'scope': scope, 'caller': side.ADMIN}
    return Step('issue', {'token': token, **arguments})


def _grant(holder, target, role):
    return Step('grant', {'holder': holder, 'target': target, 'role': role})
