# SPDX-License-Identifier: Apache-2.0

"""Consumers, access tokens and the tokens of OAuth 1.0a."""

import time
import urllib.parse
import uuid

from patchset.walk import steps
from patchset.walk.operations import delegations

_BASE = '/OS-OAUTH1'


@steps.operation('OAuth', 4)
def create_consumer(side, consumer):
    answer = side.create('consumer', consumer, f'{_BASE}/consumers')
    if answer.status == 201:
        made = answer.body['consumer']
        side.details[consumer] = made['id'], made['secret']
    return answer


@steps.operation('OAuth', 1)
def delete_consumer(side, consumer):
    # Its access tokens are deleted with it, but remain in use by the walk.
    return side.delete(f'{_BASE}/consumers/{side.id(consumer)}', consumer)


@steps.operation('OAuth', 10, role=delegations.ROLES)
def authorize(side, access, consumer, user, project, role):
    """Have a user delegate a role on a project to a consumer."""
    side.require_absent(access)
    side.id(consumer)
    keys = side.details[consumer]
    roles = {'roles': [{'id': side.id(role)}]}
    token = delegations.own_token(side, user, project)
    answer = _post(
        side, '/request_token', keys, oauth_callback='oob',
        headers={'Requested-Project-Id': side.id(project)},
    )  # fmt: skip
    if answer.status != 201:
        return _status(answer)
    request, secret = _made(answer)
    answer = side.request('PUT', f'{_BASE}/authorize/{request}', roles, token)
    if answer.status != 200:
        return _status(answer)
    verifier = answer.body['token']['oauth_verifier']
    answer = _post(
        side, '/access_token', (*keys, request, secret),
        oauth_verifier=verifier,
    )  # fmt: skip
    if answer.status == 201:
        made, secret = _made(answer)
        side.add(access, made)
        side.details[access] = user, (*keys, made, secret)
    return _status(answer)


@steps.operation('OAuth', 2)
def delete_access_token(side, access):
    own = side.id(access)
    user, _ = side.details[access]
    path = f'/users/{side.id(user)}{_BASE}/access_tokens/{own}'
    answer = side.request('DELETE', path)
    if answer.status in (204, 404):  # not found without the consumer
        side.remove(access)
    return answer


@steps.operation('OAuth', 12)
def use_access_token(side, token, access, caller):
    side.id(access)
    _, keys = side.details[access]
    identity = {'methods': ['oauth1'], 'oauth1': {}}
    answer = side.authenticate(identity, headers=_signed(keys))
    return side.add_token(token, answer, caller)


def _post(side, path, keys, headers=None, **parameters):
    headers = {**_signed(keys, **parameters), **(headers or {})}
    return side.node.ask('POST', _BASE + path, headers=headers)


def _made(answer):
    found = dict(urllib.parse.parse_qsl(answer.body))
    return found['oauth_token'], found['oauth_token_secret']


def _status(answer):
    """The response without its body, which contains random keys."""
    return type(answer)(answer.status)


def _signed(keys, **parameters):
    """The header of a signed request (RFC 5849, section 3.4.4).

    :param keys: id and secret of the consumer, and of a token if there is one
    """
    consumer, secret, *token = keys
    token, token_secret = token or (None, '')
    parameters |= {
        'oauth_consumer_key': consumer,
        'oauth_nonce': uuid.uuid4().hex,
        'oauth_signature': f'{secret}&{token_secret}',
        'oauth_signature_method': 'PLAINTEXT',
        'oauth_timestamp': str(int(time.time())),
        'oauth_version': '1.0',
    }
    if token:
        parameters['oauth_token'] = token
    values = ', '.join(
        f'{name}="{urllib.parse.quote(value, safe="")}"'
        for name, value in parameters.items()
    )
    return {'Authorization': f'OAuth {values}'}
