# SPDX-License-Identifier: Apache-2.0

"""Requests that set up an experiment."""

import concurrent.futures
import functools
import http.client
import json
import ssl
import time
import urllib.parse
import urllib.request
import uuid

from bench import credentials
from patchset import errors

_AT_ONCE = 4


def milliseconds(function, *arguments) -> float:
    """How long a call takes."""
    start = time.monotonic()
    function(*arguments)
    return 1000 * (time.monotonic() - start)


def login(keystone) -> str:
    """Body of a request for a token.

    :param keystone: a :class:`patchset.deployment.Deployment`, or anything
        else that has its ``url`` and ``credentials``
    """
    return json.dumps(credentials.login(keystone.credentials))


def token(keystone):
    """Have a token of its account issued."""
    return _issued(keystone, login(keystone))


def of_each(function, things, at_once=_AT_ONCE) -> list:
    """What a function gives for each thing, called a few times at once.

    A process that the function starts has to end with it, as its thread does.
    """
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(function, things))


def several(function, count):
    """Call a function without arguments several times concurrently.

    :returns: list of ``count`` results
    """
    return of_each(lambda _: function(), range(count))


def tokens(keystone, count):
    """Have several tokens of its account issued, a few at once."""
    return several(lambda: token(keystone), count)


def rescoping(subject, project_id) -> str:
    """Body of a request for a token of a project, in exchange for another.

    :param subject: a token
    """
    body = {
        'auth': {
            'identity': {'methods': ['token'], 'token': {'id': subject}},
            'scope': {'project': {'id': project_id}},
        }
    }
    return json.dumps(body)


def rescope(keystone, subject, project_id):
    """Exchange a token for one of a project."""
    return _issued(keystone, rescoping(subject, project_id))


def _issued(keystone, body):
    headers, _ = request('POST', keystone, '/auth/tokens', body=body)
    return headers['X-Subject-Token']


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
    _, content = request('POST', keystone, path, caller, json.dumps(body))
    (found,) = content.values()
    return found


def create_and_delete(keystone, caller, path, body, key='id'):
    """Create something, and delete it at once; see :func:`create`.

    :param key: name of the attribute that identifies it
    """
    made = create(keystone, caller, path, body)
    delete(keystone, caller, f'{path}/{made[key]}')


def find(keystone, caller, path, query):
    """What a collection has.

    :param query: {name: value} that narrows it
    :returns: list of dicts
    """
    asked = f'{path}?{urllib.parse.urlencode(query)}'
    _, content = request('GET', keystone, asked, caller)
    return content[path.rpartition('/')[2]]


def put(keystone, caller, path):
    """Put something without a body, such as a grant."""
    request('PUT', keystone, path, caller)


def version(keystone):
    """The version of the API that Keystone says it has."""
    return request('GET', keystone, '')[1]['version']['id']


def delete(keystone, caller, path):
    """Delete what is at a path."""
    request('DELETE', keystone, path, caller)


def create_project(keystone, caller):
    """Create a project with a name of its own in the default domain.

    :returns: a dict
    """
    return create(keystone, caller, '/projects', named('project'))


def named(kind, **attributes) -> dict:
    """A body of something with a name of its own, in the default domain."""
    name = uuid.uuid4().hex
    return {kind: {'name': name, 'domain_id': 'default', **attributes}}


def revoke(keystone, caller, subject):
    """Revoke a token with DELETE /v3/auth/tokens."""
    request('DELETE', keystone, '/auth/tokens', caller, subject=subject)


def access_key(keystone, caller, user_id, project_id):
    """Have an access key made for a user: (access key, secret)."""
    path = f'/users/{user_id}/credentials/OS-EC2'
    made = create(keystone, caller, path, {'tenant_id': project_id})
    return made['access'], made['secret']


def about(keystone, subject):
    """What Keystone says of a token: a dict."""
    path = '/auth/tokens'
    _, content = request('GET', keystone, path, subject, subject=subject)
    return content['token']


@functools.cache
def _context(authority):
    return ssl.create_default_context(cafile=authority)


def request(method, keystone, path, caller=None, body=None, *, subject=None):
    """Send a request: the headers and the content of its answer.

    :param path: below ``/v3``
    :param caller: the token that asks
    :param body: JSON
    :param subject: the token that is asked about
    :returns: headers, and what the content says; None without a content
    :raises patchset.errors.Error: it was not answered with success
    """
    tls = None
    if keystone.url.startswith('https:'):
        tls = _context(keystone.credentials.get('OS_CACERT') or None)
    tokens = {'X-Auth-Token': caller, 'X-Subject-Token': subject}
    question = urllib.request.Request(
        f'{keystone.url}{path}',
        data=body.encode() if body else None,
        method=method,
        headers={name: value for name, value in tokens.items() if value}
        | {'Content-Type': 'application/json'},
    )
    try:
        with urllib.request.urlopen(
            question, timeout=300, context=tls
        ) as answer:
            content = answer.read()
            return answer.headers, json.loads(content) if content else None
    except (OSError, http.client.HTTPException) as error:
        raise errors.Error(f'{method} /v3{path}: {error}')
