# SPDX-License-Identifier: Apache-2.0

"""The first steps of each walk, which create the resources."""

from patchset.walk import names
from patchset.walk.operations import ldap
from patchset.walk.steps import Step

_SERVICE, _READER = 'u5', 'u4'


def steps():
    """The first steps of each walk: a list."""
    steps = [Step('create_domain', {'domain': name}) for name in names.DOMAINS]
    steps.append(Step('configure_ldap', {}))
    steps += [Step('add_ldap_user', {'user': name}) for name in ldap.USERS]
    steps += [Step('add_ldap_group', {'group': name}) for name in ldap.GROUPS]
    for kind, resources in (
        ('project', names.PROJECTS),
        ('user', names.USERS),
        ('group', names.GROUPS),
        ('role', names.ROLES),
        ('service', names.SERVICES),
    ):
        steps += [Step(f'create_{kind}', {kind: name}) for name in resources]
    for number, name in enumerate(names.ENDPOINTS):
        interface = ('public', 'internal')[number % 2]
        steps.append(
            Step('create_endpoint', {'endpoint': name, 'interface': interface})
        )
    for user in names.USERS:
        steps += [
            _grant(f'users:{user}', f'projects:{project}', 'member')
            for project in names.PROJECTS
        ]
    for group, domain in names.GROUPS.items():
        steps.append(_grant(f'groups:{group}', 'projects:p4', 'r1'))
        steps.append(_grant(f'groups:{group}', f'domains:{domain}', 'r2'))
    # Tokens that can validate others, in addition to that of the admin.
    return [
        *steps,
        _grant(f'users:{_SERVICE}', 'projects:p4', 'service'),
        Step(
            'grant_on_system', {'holder': f'users:{_READER}', 'role': 'reader'}
        ),
        _issue(names.SERVICE, _SERVICE, 'project:p4'),
        _issue(names.READER, _READER, 'system'),
    ]


def _issue(token, user, scope):
    arguments = {'user': user, 'scope': scope, 'caller': names.ADMIN}
    return Step('issue', {'token': token, **arguments})


def _grant(holder, target, role):
    return Step('grant', {'holder': holder, 'target': target, 'role': role})
