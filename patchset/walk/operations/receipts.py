# SPDX-License-Identifier: Apache-2.0

"""Users who need both a password and a token to sign in."""

from patchset.walk import names
from patchset.walk import steps
from patchset.walk.operations import delegations

_RULES = {
    'multi_factor_auth_enabled': True,
    'multi_factor_auth_rules': [['password', 'token']],
}


@steps.operation('receipts', 4)
def require_two_methods(side, user):
    token = delegations.own_token(side, user, None)
    side.details[f'token of {user}'] = token
    return side.update('user', user, options=_RULES)


@steps.operation('receipts')
def require_one_method(side, user):
    options = {'multi_factor_auth_enabled': False}
    return side.update('user', user, options=options)


@steps.operation('receipts', 6)
def begin_sign_in(side, receipt, user):
    answer = side.authenticate(delegations.password(side, user))
    value = answer.headers.get('openstack-auth-receipt')
    if value:
        side.ids[receipt] = value
        side.details[receipt] = user
    return answer


@steps.operation('receipts', 8, project=(None, *names.PROJECTS))
def finish_sign_in(side, token, receipt, project, caller):
    headers = {'Openstack-Auth-Receipt': side.id(receipt)}
    own = side.details[f'token of {side.details[receipt]}']
    identity = {'methods': ['token'], 'token': {'id': own}}
    scope = side.scope(project and f'project:{project}')
    answer = side.authenticate(identity, scope, headers)
    return side.add_token(token, answer, caller)
