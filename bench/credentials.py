# SPDX-License-Identifier: Apache-2.0

"""Accounts from the OS_* environment variables, as for OpenStack clients."""

from patchset import errors

_TYPES = ('password', 'v3password')


def login(variables):
    """What is asked of Keystone for a token of an account.

    :param variables: {name: value} of an openrc
    :returns: dict, the body of POST /v3/auth/tokens
    :raises patchset.errors.UsageError: one is missing, or asks for another
        way than a password
    """
    kind = variables.get('OS_AUTH_TYPE') or 'password'
    if kind not in _TYPES:
        raise errors.UsageError(
            f'OS_AUTH_TYPE is {kind}; only passwords are supported'
        )
    user = _named(variables, 'USER', 'OS_USERNAME')
    user['password'] = _needed(variables, 'OS_PASSWORD')
    if variables.get('OS_SYSTEM_SCOPE'):
        scope = {'system': {variables['OS_SYSTEM_SCOPE']: True}}
    elif variables.get('OS_TRUST_ID'):
        scope = {'OS-TRUST:trust': {'id': variables['OS_TRUST_ID']}}
    else:
        scope = {'project': _named(variables, 'PROJECT', 'OS_PROJECT_NAME')}
    identity = {'methods': ['password'], 'password': {'user': user}}
    return {'auth': {'identity': identity, 'scope': scope}}


def _named(variables, kind, name):
    """A user or a project: by its id, or by its name and domain."""
    if variables.get(f'OS_{kind}_ID'):
        return {'id': variables[f'OS_{kind}_ID']}
    found = {'name': _needed(variables, name)}
    if variables.get(f'OS_{kind}_DOMAIN_ID'):
        found['domain'] = {'id': variables[f'OS_{kind}_DOMAIN_ID']}
    else:
        domain = _needed(variables, f'OS_{kind}_DOMAIN_NAME')
        found['domain'] = {'name': domain}
    return found


def _needed(variables, name):
    if not variables.get(name):
        raise errors.UsageError(f'{name} is not set; source an openrc first')
    return variables[name]
