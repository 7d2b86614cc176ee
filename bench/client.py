# SPDX-License-Identifier: Apache-2.0

"""Requests that set up an experiment."""

import concurrent.futures
import functools
import http.client
import json
import ssl
import urllib.parse
import urllib.request
import uuid

from bench import credentials
from patchset import errors

_AT_ONCE = 4


def login(keystone):
    """Body of a request for a token.

    :param keystone: a :class:`patchset.deployment.Deployment`, or anything
        else that has its ``url`` and ``credentials``
    :returns: bytes
    """
    return json.dumps(credentials.login(keystone.credentials)).encode()


def token(keystone):
    """Have a token of its account issued."""
    return _issued(keystone, login(keystone))


def of_each(function, things) -> list:
    """What a function gives for each thing, called a few times at once."""
    with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(function, things))


def several(function, count):
    """Call a function without arguments several times concurrently.

    :returns: list of ``count`` results
    """
    return of_each(lambda _: function(), range(count))


def tokens(keystone, count):
    """Have several tokens of its account issued, a few at once."""
    return several(lambda: token(keystone), count)


def rescoping(subject, project_id):
    """Body of a request for a token of a project, in exchange for another.

    :param subject: a token
    :returns: bytes
    """
    body = {
        'auth': {
            'identity': {'methods': ['token'], 'token': {'id': subject}},
            'scope': {'project': {'id': project_id}},
        }
    }
    return json.dumps(body).encode()


def rescope(keystone, subject, project_id):
    """Exchange a token for one of a project."""
    return _issued(keystone, rescoping(subject, project_id))


def _issued(keystone, body):
    found, _ = request('POST', keystone, '/auth/tokens', body=body)
    return found['X-Subject-Token']


def exchanged(keystone, count):
    """Have a token issued, and exchanged for others of its project.

    :returns: list of ``count`` tokens
    """
    first = token(keystone)
    project_id = about(keystone, first)['project']['id']
    return [
        first,
        *several(lambda: rescope(keystone, first, project_id), count - 1),
    ]


def create(keystone, caller, path, body):
    """Create something.

    :param caller: a token
    :param path: of the collection, below ``/v3``
    :param body: {kind: {attribute: value}}
    :returns: what Keystone says of it: a dict
    """
    more = {'X-Auth-Token': caller}
    data = json.dumps(body).encode()
    _, content = request('POST', keystone, path, more, data)
    (found,) = json.loads(content).values()
    return found


def find(keystone, caller, path, query):
    """What a collection has.

    :param query: {name: value} that narrows it
    :returns: list of dicts
    """
    more = {'X-Auth-Token': caller}
    asked = f'{path}?{urllib.parse.urlencode(query)}'
    _, content = request('GET', keystone, asked, more)
    return json.loads(content)[path.rpartition('/')[2]]


def put(keystone, caller, path):
    """Put something without a body, such as a grant."""
    request('PUT', keystone, path, {'X-Auth-Token': caller})


def version(keystone):
    """The version of the API that Keystone says it has."""
    return json.loads(request('GET', keystone, '')[1])['version']['id']


def delete(keystone, caller, path):
    """Delete what is at a path."""
    request('DELETE', keystone, path, {'X-Auth-Token': caller})


def create_project(keystone, caller, domain_id='default'):
    """Create a project with a name of its own.

    :returns: a dict
    """
    body = {'project': {'name': uuid.uuid4().hex, 'domain_id': domain_id}}
    return create(keystone, caller, '/projects', body)


def headers(subject, caller=None):
    """Headers of a request about a token, by its own holder if not said."""
    return {'X-Auth-Token': caller or subject, 'X-Subject-Token': subject}


def revoke(keystone, caller, subject):
    """Revoke a token with DELETE /v3/auth/tokens."""
    request('DELETE', keystone, '/auth/tokens', headers(subject, caller))


def access_key(keystone, caller, user_id, project_id):
    """Have an access key made for a user: (access key, secret)."""
    path = f'/users/{user_id}/credentials/OS-EC2'
    made = create(keystone, caller, path, {'tenant_id': project_id})
    return made['access'], made['secret']


def about(keystone, subject):
    """What Keystone says of a token: a dict."""
    _, content = request('GET', keystone, '/auth/tokens', headers(subject))
    return json.loads(content)['token']


@functools.cache
def _context(authority):
    return ssl.create_default_context(cafile=authority)


def request(method, keystone, path, more=None, body=None):
    """Send a request: the headers and the content of its answer.

    :param path: below ``/v3``
    :param more: headers
    :param body: bytes
    :raises patchset.errors.Error: it was not answered with success
    """
    tls = None
    if keystone.url.startswith('https:'):
        tls = _context(keystone.credentials.get('OS_CACERT') or None)
    question = urllib.request.Request(
        f'{keystone.url}{path}',
        data=body,
        method=method,
        headers={'Content-Type': 'application/json', **(more or {})},
    )
    try:
        with urllib.request.urlopen(
            question, timeout=300, context=tls
        ) as answer:
            return answer.headers, answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise errors.Error(f'{method} /v3{path}: {error}')
