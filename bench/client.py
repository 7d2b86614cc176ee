# SPDX-License-Identifier: Apache-2.0

"""Requests that set up an experiment.

The parameter ``keystone`` is a :class:`patchset.deployment.Deployment`, or
anything else with ``url`` and ``credentials``; ``caller`` is the token with
which a request is sent.
"""

import concurrent.futures
import functools
import http.client
import json
import ssl
import time
import urllib.parse
import urllib.request
import uuid

from patchset import errors

_THREADS = 4
_TYPES = ('password', 'v3password')


def milliseconds(function, *arguments) -> float:
    """Duration of a call."""
    start = time.monotonic()
    function(*arguments)
    return 1000 * (time.monotonic() - start)


def map_concurrently(function, items, threads=_THREADS) -> list:
    """Results of a function for each item, with some calls at a time.

    A process that the function starts has to end with it, as its thread does.
    """
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))


def call_concurrently(function, count) -> list:
    """Results of ``count`` calls without arguments, some at a time."""
    return map_concurrently(lambda _: function(), range(count))


def login_body(keystone) -> str:
    """Body of a request for a token of its account."""
    return json.dumps(login(keystone.credentials))


def login(variables):
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


def token(keystone):
    """Issue a token for its account."""
    return _issue(keystone, login_body(keystone))


def tokens(keystone, count):
    """Issue several tokens for its account: a list."""
    return call_concurrently(lambda: token(keystone), count)


def rescope_body(subject, project_id) -> str:
    """Body of a request that exchanges a token for one of a project."""
    body = {
        'auth': {
            'identity': {'methods': ['token'], 'token': {'id': subject}},
            'scope': {'project': {'id': project_id}},
        }
    }
    return json.dumps(body)


def rescope(keystone, subject, project_id):
    """Exchange a token for one of a project."""
    return _issue(keystone, rescope_body(subject, project_id))


def _issue(keystone, body):
    headers, _ = request('POST', keystone, '/auth/tokens', body=body)
    return headers['X-Subject-Token']


def rescoped_tokens(keystone, count):
    """Issue a token, and exchange it for others of the same project.

    :returns: list of ``count`` tokens
    """
    first = token(keystone)
    project_id = token_data(keystone, first)['project']['id']
    return [
        first,
        *call_concurrently(
            lambda: rescope(keystone, first, project_id), count - 1
        ),
    ]


def token_data(keystone, subject):
    """Validate a token by itself: the content of the response."""
    path = '/auth/tokens'
    _, content = request('GET', keystone, path, subject, subject=subject)
    return content['token']


def revoke(keystone, caller, subject):
    """Revoke a token with DELETE /v3/auth/tokens."""
    request('DELETE', keystone, '/auth/tokens', caller, subject=subject)


def version(keystone):
    """Version of the API, as reported by Keystone."""
    return request('GET', keystone, '')[1]['version']['id']


def create(keystone, caller, path, body):
    """Create a resource.

    :param path: of the collection, below ``/v3``
    :param body: {kind: {attribute: value}}
    :returns: the attributes of the resource
    """
    _, content = request('POST', keystone, path, caller, json.dumps(body))
    (resource,) = content.values()
    return resource


def create_and_delete(keystone, caller, path, body, key='id'):
    """Create a resource, and delete it immediately; see :func:`create`.

    :param key: name of the attribute that identifies it
    """
    resource = create(keystone, caller, path, body)
    request('DELETE', keystone, f'{path}/{resource[key]}', caller)


def find(keystone, caller, path, query):
    """Resources of a collection: a list of dicts.

    :param query: {name: value} of the filters
    """
    url = f'{path}?{urllib.parse.urlencode(query)}'
    _, content = request('GET', keystone, url, caller)
    return content[path.rpartition('/')[2]]


def named_body(kind, **attributes) -> dict:
    """Body for a resource with a unique name in the default domain."""
    name = uuid.uuid4().hex
    return {kind: {'name': name, 'domain_id': 'default', **attributes}}


def create_project(keystone, caller):
    """Create a project with a unique name in the default domain: a dict."""
    return create(keystone, caller, '/projects', named_body('project'))


def create_access_key(keystone, caller, user_id, project_id):
    """Create an EC2 credential of a user: (access key, secret)."""
    path = f'/users/{user_id}/credentials/OS-EC2'
    credential = create(keystone, caller, path, {'tenant_id': project_id})
    return credential['access'], credential['secret']


@functools.cache
def _context(authority):
    return ssl.create_default_context(cafile=authority)


def request(method, keystone, path, caller=None, body=None, *, subject=None):
    """Send a request.

    :param path: below ``/v3``
    :param body: JSON
    :param subject: the token that the request is about
    :returns: headers and parsed content; None without content
    :raises patchset.errors.Error: there was no successful response
    """
    tls = None
    if keystone.url.startswith('https:'):
        tls = _context(keystone.credentials.get('OS_CACERT') or None)
    tokens = {'X-Auth-Token': caller, 'X-Subject-Token': subject}
    headers = {name: value for name, value in tokens.items() if value}
    message = urllib.request.Request(
        f'{keystone.url}{path}',
        data=body.encode() if body else None,
        method=method,
        headers={'Content-Type': 'application/json', **headers},
    )
    try:
        with urllib.request.urlopen(
            message, timeout=300, context=tls
        ) as response:
            content = response.read()
            return response.headers, json.loads(content) if content else None
    except (OSError, http.client.HTTPException) as error:
        raise errors.Error(f'{method} /v3{path}: {error}')
