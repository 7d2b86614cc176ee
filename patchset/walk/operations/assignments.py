# SPDX-License-Identifier: Apache-2.0

"""Roles, implied roles and grants."""

from patchset.walk import names
from patchset.walk.story import NUMBER
from patchset.walk.story import operation

_ANY_ROLE = (*names.ROLES, *names.BUILT_IN)
# Some implications of the others are there from the beginning.
_IMPLYING = (*names.ROLES, 'member')
_HOLDERS = (
    *(f'users:{name}' for name in names.USERS),
    *(f'groups:{name}' for name in names.GROUPS),
)
_TARGETS = (
    *(f'projects:{name}' for name in names.PROJECTS),
    *(f'domains:{name}' for name in (*names.DOMAINS, names.DEFAULT)),
)


@operation('roles', role=names.ROLES)
def create_role(side, role):
    return side.make('role', role, name=role)


@operation('roles', role=names.ROLES, number=NUMBER)
def rename_role(side, role, number):
    return side.change('role', role, name=f'{role}-{number}')


@operation('roles', 1, role=names.ROLES)
def delete_role(side, role):
    return side.remove(f'/roles/{side.id(role)}', role)


@operation('roles', 4, role=_IMPLYING, implied=names.ROLES)
def imply_role(side, role, implied):
    return side.ask('PUT', _implied(side, role, implied))


@operation('roles', 3, role=_IMPLYING, implied=names.ROLES)
def stop_implying_role(side, role, implied):
    return side.ask('DELETE', _implied(side, role, implied))


@operation('grants', 16, holder=_HOLDERS, target=_TARGETS, role=_ANY_ROLE)
def grant(side, holder, target, role):
    return side.ask('PUT', _grant(side, holder, target, role))


@operation('grants', 10, holder=_HOLDERS, target=_TARGETS, role=_ANY_ROLE)
def remove_grant(side, holder, target, role):
    return side.ask('DELETE', _grant(side, holder, target, role))


@operation('grants', 5, holder=_HOLDERS, target=_TARGETS, role=_ANY_ROLE)
def grant_inherited(side, holder, target, role):
    return side.ask('PUT', _inherited(side, holder, target, role))


@operation('grants', 4, holder=_HOLDERS, target=_TARGETS, role=_ANY_ROLE)
def remove_inherited_grant(side, holder, target, role):
    return side.ask('DELETE', _inherited(side, holder, target, role))


@operation('grants', 4, holder=_HOLDERS, role=_ANY_ROLE)
def grant_on_system(side, holder, role):
    return side.ask('PUT', _on_system(side, holder, role))


@operation('grants', 3, holder=_HOLDERS, role=_ANY_ROLE)
def remove_grant_on_system(side, holder, role):
    return side.ask('DELETE', _on_system(side, holder, role))


def _path(side, what):
    kind, _, name = what.partition(':')
    return f'/{kind}/{side.id(name)}'


def _implied(side, role, implied):
    return f'/roles/{side.id(role)}/implies/{side.id(implied)}'


def _grant(side, holder, target, role):
    who = _path(side, target) + _path(side, holder)
    return f'{who}/roles/{side.id(role)}'


def _inherited(side, holder, target, role):
    path = _grant(side, holder, target, role)
    return f'/OS-INHERIT{path}/inherited_to_projects'


def _on_system(side, holder, role):
    return f'/system{_path(side, holder)}/roles/{side.id(role)}'
