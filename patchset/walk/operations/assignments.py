# SPDX-License-Identifier: Apache-2.0

"""Roles, implied roles and grants."""

from patchset.walk import names
from patchset.walk import steps

_ANY_ROLE = (*names.ROLES, *names.BUILT_IN)
# Other built-in roles imply each other from the beginning.
_IMPLYING = (*names.ROLES, 'member')
_HOLDERS = (
    *(f'users:{name}' for name in names.USERS),
    *(f'groups:{name}' for name in names.GROUPS),
)
_TARGETS = (
    *(f'projects:{name}' for name in names.PROJECTS),
    *(f'domains:{name}' for name in (*names.DOMAINS, names.DEFAULT)),
)


steps.usual_operations('roles', 'role', create=2, rename=2, delete=1)


def _path(side, what):
    kind, _, name = what.partition(':')
    return f'/{kind}/{side.id(name)}'


@steps.put_and_delete(
    'roles', {'imply_role': 4, 'stop_implying_role': 3},
    role=_IMPLYING, implied=names.ROLES,
)  # fmt: skip
def _implied(side, role, implied):
    return f'/roles/{side.id(role)}/implies/{side.id(implied)}'


@steps.put_and_delete(
    'grants', {'grant': 16, 'remove_grant': 10},
    holder=_HOLDERS, target=_TARGETS, role=_ANY_ROLE,
)  # fmt: skip
def _grant(side, holder, target, role):
    who = _path(side, target) + _path(side, holder)
    return f'{who}/roles/{side.id(role)}'


@steps.put_and_delete(
    'grants', {'grant_inherited': 5, 'remove_inherited_grant': 4},
    holder=_HOLDERS, target=_TARGETS, role=_ANY_ROLE,
)  # fmt: skip
def _inherited(side, holder, target, role):
    path = _grant(side, holder, target, role)
    return f'/OS-INHERIT{path}/inherited_to_projects'


@steps.put_and_delete(
    'grants', {'grant_on_system': 4, 'remove_grant_on_system': 3},
    holder=_HOLDERS, role=_ANY_ROLE,
)  # fmt: skip
def _on_system(side, holder, role):
    return f'/system{_path(side, holder)}/roles/{side.id(role)}'
