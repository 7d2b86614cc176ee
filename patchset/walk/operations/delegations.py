# SPDX-License-Identifier: Apache-2.0

"""Trusts, application credentials and EC2 credentials."""

from patchset import client
from patchset.walk import names
from patchset.walk import steps

# Users have the first one from the beginning.
ROLES = (*('member',) * 4, 'reader', *names.ROLES)
_YES_NO = ('', 'yes')
_OF_TRUST = {
    '': {},
    'redelegable': {'allow_redelegation': True},
    'limited': {'remaining_uses': 2},
}
_RULES = [
    {'path': '/v3/auth/tokens', 'method': 'GET', 'service': 'identity'},
    {'path': '/v2.1/servers', 'method': 'GET', 'service': 'compute'},
]


def own_token(side, user, project):
    """Sign a user in.

    :param project: name of the project; None for an unscoped token
    :raises patchset.walk.steps.NotApplicable: it fails
    """
    scope = side.scope(project and f'project:{project}')
    return _sign_in(side, user, scope).headers['x-subject-token']


def _sign_in(side, user, scope):
    answer = side.authenticate(password(side, user), scope)
    if answer.status != 201:
        raise steps.NotApplicable(user, answer)
    return answer


def password(side, user):
    """The identity of a user who signs in with a password."""
    return client.password(side.details.get(user), id=side.id(user))


@steps.operation(
    'trusts', 6, trustor=names.USERS,
    trustee=names.USERS, role=ROLES,
    impersonation=_YES_NO, variant=('', '', 'redelegable', 'limited'),
)  # fmt: skip
def create_trust(
    side, trust, trustor, trustee, project, role, impersonation, variant
):
    side.require_absent(trust)
    body = {
        'trustor_user_id': side.id(trustor),
        'trustee_user_id': side.id(trustee),
        'project_id': side.id(project),
        'roles': [{'id': side.id(role)}],
        'impersonation': bool(impersonation),
        **_OF_TRUST[variant],
    }
    token = own_token(side, trustor, project)
    return _add_trust(side, trust, body, token, (trustor, trustee, project))


@steps.operation(
    'trusts', 4, source=names.TRUSTS, trustee=names.USERS,
    variant=('', 'redelegable'),
)  # fmt: skip
def redelegate(side, trust, source, trustee, variant):
    side.require_absent(trust)
    scope = {'OS-TRUST:trust': {'id': side.id(source)}}
    _, trustor, project = side.details[source]
    answer = _sign_in(side, trustor, scope)
    shown = answer.body['token']
    body = {
        'trustor_user_id': shown['user']['id'],
        'trustee_user_id': side.id(trustee),
        'project_id': shown['project']['id'],
        'roles': [{'id': role['id']} for role in shown['roles']],
        'impersonation': shown['OS-TRUST:trust']['impersonation'],
        **_OF_TRUST[variant],
    }
    token = answer.headers['x-subject-token']
    return _add_trust(side, trust, body, token, (trustor, trustee, project))


def _add_trust(side, trust, body, token, details):
    answer = side.request('POST', '/OS-TRUST/trusts', {'trust': body}, token)
    if answer.status == 201:
        side.add(trust, answer.body['trust']['id'])
        side.details[trust] = details
    return answer


@steps.operation('trusts', 3)
def delete_trust(side, trust):
    path = f'/OS-TRUST/trusts/{side.id(trust)}'
    trustor, _, project = side.details[trust]
    answer = side.request(
        'DELETE', path, token=own_token(side, trustor, project)
    )
    if answer.status in (204, 404):  # not found if it has been used up
        side.remove(trust)
    return answer


@steps.operation(
    'application credentials', 8, rules=('', '', 'yes'),
    unrestricted=_YES_NO,
)  # fmt: skip
def create_credential(
    side, credential, user, project, rules, unrestricted, number
):
    side.require_absent(credential)
    body = {
        'name': f'{credential}-{number}',
        'unrestricted': bool(unrestricted),
    }
    if rules:
        body['access_rules'] = _RULES
    path = f'/users/{side.id(user)}/application_credentials'
    answer = side.request(
        'POST', path, {'application_credential': body},
        own_token(side, user, project),
    )  # fmt: skip
    if answer.status == 201:
        made = answer.body['application_credential']
        side.add(credential, made['id'])
        side.details[credential] = user, made
    return answer


@steps.operation('application credentials', 3)
def delete_credential(side, credential):
    own = side.id(credential)
    user, _ = side.details[credential]
    path = f'/users/{side.id(user)}/application_credentials/{own}'
    return side.delete(path, credential)


@steps.operation('application credentials', 1)
def delete_access_rule(side, credential):
    side.id(credential)
    user, made = side.details[credential]
    if not made.get('access_rules'):
        raise steps.NotApplicable(credential)
    rule = made['access_rules'][0]['id']
    path = f'/users/{side.id(user)}/access_rules/{rule}'
    return side.request('DELETE', path)


@steps.operation('EC2 credentials', 4)
def create_key(side, key, user, project):
    side.require_absent(key)
    path = f'/users/{side.id(user)}/credentials/OS-EC2'
    answer = side.request('POST', path, {'tenant_id': side.id(project)})
    if answer.status == 201:
        made = answer.body['credential']
        side.add(key, made['access'])
        side.details[key] = user
        side.keys[key] = made['access'], made['secret']
    return answer


@steps.operation('EC2 credentials')
def delete_key(side, key):
    access = side.id(key)
    user = side.details[key]
    path = f'/users/{side.id(user)}/credentials/OS-EC2/{access}'
    return side.delete(path, key)
