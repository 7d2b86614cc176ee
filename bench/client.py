# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The few requests that set an experiment up."""

import concurrent.futures
import json
import urllib.request
import uuid

from patchset import errors

_AT_ONCE = 4


def token(keystone):
    """Have a project-scoped token of the admin issued.

    :param keystone: a :class:`patchset.deployment.Deployment`
    """
    variables = keystone.credentials
    domain = {'name': variables['OS_USER_DOMAIN_NAME']}
    user = {
        'name': variables['OS_USERNAME'],
        'domain': domain,
        'password': variables['OS_PASSWORD'],
    }
    project = {'name': variables['OS_PROJECT_NAME'], 'domain': domain}
    body = {
        'auth': {
            'identity': {'methods': ['password'], 'password': {'user': user}},
            'scope': {'project': project},
        }
    }
    answer = _call('POST', keystone, body=json.dumps(body).encode())
    return answer['X-Subject-Token']


def tokens(keystone, count):
    """Have several tokens of the admin issued, a few at once."""
    with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(token, [keystone] * count))


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
    body = rescoping(subject, project_id)
    return _call('POST', keystone, body=body)['X-Subject-Token']


def exchanged(keystone, count):
    """Have a token issued, and exchanged for others of its project.

    :returns: list of so many tokens
    """
    first = token(keystone)
    project_id = _about(keystone, headers(first))['project']['id']
    with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as pool:
        others = pool.map(
            lambda _: rescope(keystone, first, project_id), range(count - 1)
        )
        return [first, *others]


def create_project(keystone, caller):
    """Create a project with a name of its own.

    :param caller: a token
    """
    body = {'project': {'name': uuid.uuid4().hex, 'domain_id': 'default'}}
    more = {'X-Auth-Token': caller}
    data = json.dumps(body).encode()
    _open('POST', keystone, '/projects', more, data).close()


def headers(subject, caller=None):
    """Headers of a request about a token, by its own holder if not said."""
    return {'X-Auth-Token': caller or subject, 'X-Subject-Token': subject}


def revoke(keystone, caller, subject):
    """Revoke a token with DELETE /v3/auth/tokens."""
    _call('DELETE', keystone, headers(subject, caller))


def access_keys(side, count):
    """Have access keys made for the admin, in the admin's project.

    :param side: a :class:`bench.rig.Side`
    :returns: list of (access key, secret)
    """
    keystone = side.keystone
    caller = headers(token(keystone))
    subject = _about(keystone, caller)
    path = f'/users/{subject["user"]["id"]}/credentials/OS-EC2'
    body = json.dumps({'tenant_id': subject['project']['id']}).encode()
    found = []
    for _ in range(count):
        with _open('POST', keystone, path, caller, body) as answer:
            credential = json.load(answer)['credential']
        found.append((credential['access'], credential['secret']))
    return found


def _about(keystone, more):
    """What Keystone says of a token: a dict."""
    with _open('GET', keystone, '/auth/tokens', more) as answer:
        return json.load(answer)['token']


def _call(method, keystone, more=None, body=None):
    with _open(method, keystone, '/auth/tokens', more, body) as answer:
        return answer.headers


def _open(method, keystone, path, more=None, body=None):
    request = urllib.request.Request(
        f'{keystone.url}{path}',
        data=body,
        method=method,
        headers={'Content-Type': 'application/json', **(more or {})},
    )
    try:
        return urllib.request.urlopen(request, timeout=300)
    except OSError as error:
        raise errors.Error(f'{method} /v3{path}: {error}')
