# SPDX-License-Identifier: Apache-2.0

"""Trusts, application credentials and EC2 credentials."""

from patchset import client
from patchset.walk import names
from patchset.walk.story import NUMBER
from patchset.walk.story import Absent
from patchset.walk.story import Refused
from patchset.walk.story import operation

_ROLE = ('member', 'reader', *names.ROLES)
_YES_NO = ('', 'yes')
_RULES = [
    {'path': '/v3/auth/tokens', 'method': 'GET', 'service': 'identity'},
    {'path': '/v2.1/servers', 'method': 'GET', 'service': 'compute'},
]


def own_token(side, user, project):
    """Sign a user in.

    :raises patchset.walk.story.Refused: that is not possible
    """
    answer = side.ask_for_token(
        password(side, user), {'project': {'id': side.id(project)}}
    )
    if answer.status != 201:
        raise Refused(answer)
    return answer.headers['x-subject-token']


def password(side, user):
    """How a user signs in."""
    return client.password(side.kept.get(user), id=side.id(user))


@operation(
    'trusts', 6, trust=names.TRUSTS, trustor=names.USERS,
    trustee=names.USERS, project=names.PROJECTS, role=_ROLE,
    impersonation=_YES_NO,
)  # fmt: skip
def create_trust(side, trust, trustor, trustee, project, role, impersonation):
    side.must_not_be(trust)
    body = {
        'trustor_user_id': side.id(trustor),
        'trustee_user_id': side.id(trustee),
        'project_id': side.id(project),
        'roles': [{'id': side.id(role)}],
        'impersonation': bool(impersonation),
    }
    token = own_token(side, trustor, project)
    answer = side.ask('POST', '/OS-TRUST/trusts', {'trust': body}, token)
    if answer.status == 201:
        side.add(trust, answer.body['trust']['id'])
        side.kept[trust] = trustor, trustee, project
    return answer


@operation('trusts', 3, trust=names.TRUSTS)
def delete_trust(side, trust):
    path = f'/OS-TRUST/trusts/{side.id(trust)}'
    trustor, _, project = side.kept[trust]
    answer = side.ask('DELETE', path, token=own_token(side, trustor, project))
    if answer.status == 204:
        side.forget(trust)
    return answer


@operation(
    'application credentials', 8, credential=names.CREDENTIALS,
    user=names.USERS, project=names.PROJECTS, rules=('', '', 'yes'),
    number=NUMBER,
)  # fmt: skip
def create_credential(side, credential, user, project, rules, number):
    side.must_not_be(credential)
    body = {'name': f'{credential}-{number}'}
    if rules:
        body['access_rules'] = _RULES
    path = f'/users/{side.id(user)}/application_credentials'
    answer = side.ask(
        'POST', path, {'application_credential': body},
        own_token(side, user, project),
    )  # fmt: skip
    if answer.status == 201:
        made = answer.body['application_credential']
        side.add(credential, made['id'])
        side.kept[credential] = user, made
    return answer


@operation('application credentials', 3, credential=names.CREDENTIALS)
def delete_credential(side, credential):
    own = side.id(credential)
    user, _ = side.kept[credential]
    path = f'/users/{side.id(user)}/application_credentials/{own}'
    return side.remove(path, credential)


@operation('application credentials', 1, credential=names.CREDENTIALS)
def delete_access_rule(side, credential):
    side.id(credential)
    user, made = side.kept[credential]
    if not made.get('access_rules'):
        raise Absent(credential)
    rule = made['access_rules'][0]['id']
    path = f'/users/{side.id(user)}/access_rules/{rule}'
    return side.ask('DELETE', path)


@operation(
    'EC2 credentials', 4, key=names.KEYS, user=names.USERS,
    project=names.PROJECTS,
)  # fmt: skip
def create_key(side, key, user, project):
    side.must_not_be(key)
    path = f'/users/{side.id(user)}/credentials/OS-EC2'
    answer = side.ask('POST', path, {'tenant_id': side.id(project)})
    if answer.status == 201:
        made = answer.body['credential']
        side.add(key, made['access'])
        side.kept[key] = user
        side.keys[key] = made['access'], made['secret']
    return answer


@operation('EC2 credentials', key=names.KEYS)
def delete_key(side, key):
    access = side.id(key)
    user = side.kept[key]
    path = f'/users/{side.id(user)}/credentials/OS-EC2/{access}'
    return side.remove(path, key)
