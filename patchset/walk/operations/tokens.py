# SPDX-License-Identifier: Apache-2.0

"""All ways to issue tokens, and to revoke them."""

from bench import signing
from patchset.walk import names
from patchset.walk import steps
from patchset.walk.names import ADMIN
from patchset.walk.operations import delegations

_SCOPES = (*names.SCOPES, *names.SCOPES[:4], None)


@steps.operation('tokens', 40, scope=_SCOPES)
def issue(side, token, user, scope, caller):
    identity = delegations.password(side, user)
    answer = side.authenticate(identity, side.scope(scope))
    return side.add_token(token, answer, caller)


@steps.operation(
    'tokens', 15, source=steps.TOKEN, scope=_SCOPES,
    caller=(*names.CALLERS, 'source'),
)  # fmt: skip
def rescope(side, token, source, scope, caller):
    identity = {'methods': ['token'], 'token': {'id': side.token(source)}}
    answer = side.authenticate(identity, side.scope(scope))
    caller = source if caller == 'source' else caller
    return side.add_token(token, answer, caller)


@steps.operation('trusts', 8)
def use_trust(side, token, trust, caller):
    scope = {'OS-TRUST:trust': {'id': side.id(trust)}}
    _, trustee, _ = side.details[trust]
    answer = side.authenticate(delegations.password(side, trustee), scope)
    return side.add_token(token, answer, caller)


@steps.operation('application credentials', 12)
def use_credential(side, token, credential, caller):
    own = {'id': side.id(credential)}
    _, made = side.details[credential]
    identity = {
        'methods': ['application_credential'],
        'application_credential': {**own, 'secret': made['secret']},
    }
    answer = side.authenticate(identity)
    return side.add_token(token, answer, caller)


@steps.operation('EC2 credentials', 6)
def use_key(side, token, key, caller):
    side.id(key)
    body = signing.ec2(*side.keys[key])
    side.wait_for_next_second()
    answer = side.node.ask('POST', '/ec2tokens', side.token(ADMIN), body)
    return side.add_token(token, answer, caller)


@steps.operation('federation', 10, person=('f1', 'f2'))
def sign_in_federated(side, token, provider, person, caller):
    own = side.id(provider)
    side.wait_for_next_second()
    answer = side.node.ask(
        'GET',
        f'/OS-FEDERATION/identity_providers/{own}/protocols/mapped/auth',
        headers={'X-Walk-User': person},
    )
    return side.add_token(token, answer, caller)


@steps.operation('tokens', 4, token=steps.TOKEN)
def revoke(side, token):
    return _revoke(side, side.token(ADMIN), token)


@steps.operation('tokens', 2, token=steps.TOKEN)
def revoke_alone(side, token):
    return _revoke(side, side.token(ADMIN), token, '?cascade=false')


@steps.operation('tokens', 2, token=steps.TOKEN)
def revoke_own(side, token):
    return _revoke(side, side.token(token), token)


@steps.operation('tokens', 1)
def revoke_all_of_user(side, user):
    # Older releases do not support this request.
    return side.request('DELETE', f'/users/{side.id(user)}/tokens')


def _revoke(side, caller, token, query=''):
    if token == ADMIN:
        raise steps.NotApplicable(token)
    return side.request(
        'DELETE', f'/auth/tokens{query}', token=caller,
        headers={'X-Subject-Token': side.token(token)},
    )  # fmt: skip
