# SPDX-License-Identifier: Apache-2.0

"""Accounts from the OS_* environment variables, as for OpenStack clients."""

from patchset import errors

_TYPES = ('password', 'v3password')


def login_body(variables):
    """Body of a request for a token of an account.

    :param variables: {name: value} of an openrc
    :returns: dict
    :raises patchset.errors.UsageError: one is missing, or requests another
        method than a password
    """
    kind = variables.get('OS_AUTH_TYPE') or 'password'
    if kind not in _TYPES:
        raise errors.UsageError(
            f'OS_AUTH_TYPE is {kind}; only passwords are supported'
        )
    user = _resource(variables, 'USER', 'OS_USERNAME')
    user['password'] = _required(variables, 'OS_PASSWORD')
    if variables.get('OS_SYSTEM_SCOPE'):
        scope = {'system': {variables['OS_SYSTEM_SCOPE']: True}}
    elif variables.get('OS_TRUST_ID'):
        scope = {'OS-TRUST:trust': {'id': variables['OS_TRUST_ID']}}
    else:
        scope = {'project': _resource(variables, 'PROJECT', 'OS_PROJECT_NAME')}
    identity = {'methods': ['password'], 'password': {'user': user}}
    return {'auth': {'identity': identity, 'scope': scope}}


def _resource(variables, kind, name):
    """A user or a project: by its id, or by its name and domain."""
    if variables.get(f'OS_{kind}_ID'):
        return {'id': variables[f'OS_{kind}_ID']}
    resource = {'name': _required(variables, name)}
    if variables.get(f'OS_{kind}_DOMAIN_ID'):
        resource['domain'] = {'id': variables[f'OS_{kind}_DOMAIN_ID']}
    else:
        domain = _required(variables, f'OS_{kind}_DOMAIN_NAME')
        resource['domain'] = {'name': domain}
    return resource


def _required(variables, name):
    if not variables.get(name):
        raise errors.UsageError(f'{name} is not set; source an openrc first')
    return variables[name]
