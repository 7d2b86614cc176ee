# SPDX-License-Identifier: Apache-2.0

"""RadosGW of both sides, and signed S3 requests."""

import contextlib
import itertools
import json

from bench import client
from bench import load
from bench import population
from bench import signing
from bench import testbed
from patchset import child
from patchset import paths
from patchset import progress
from patchset.services import ceph

USERS = 4  # all with one project, which owns the bucket
_BODY = 'x' * 1024


class Gateway:
    """A RadosGW with the users of one side.

    :param side: a :class:`bench.testbed.Side`
    :param cache: name of the cache setting of RadosGW
    :param has_cache: whether it has a cache
    :param server: a :class:`patchset.services.ceph.RadosGW`, running
    :param venv: the environment with boto3
    :param accounts: list of :class:`bench.cloud.Account`
    """

    def __init__(self, side, cache, has_cache, server, venv, accounts):
        self.side = side
        #: URL of its S3 API
        self.url = server.url
        self._bucket = f'{side.name}-{cache}'
        self._has_cache = has_cache
        self._venv = venv
        self._accounts = accounts
        self._requests = {}
        self._keys = []

    def create_keys(self, count) -> list:
        """Create access keys of the users: (access key, secret) of each."""
        # One token per user, because verifying a password is slow.
        owners = [(one, client.token(one)) for one in self._accounts]
        return client.map_concurrently(
            _create_key, population.round_robin(owners, count)
        )

    def sign(self, kinds, keys, count, create=False) -> dict:
        """Sign requests with the keys in turn.

        :param create: whether to create the bucket and its objects before
        :returns: {kind: list of requests, see :mod:`bench.load`}
        """
        request = {
            'url': self.url, 'bucket': self._bucket, 'keys': keys,
            'kinds': kinds, 'count': count, 'create': create,
        }  # fmt: skip
        output = child.run(
            [self._venv.python, '-P', '-m', 'bench.s3_signer'],
            env=self._venv.variables(paths.ROOT),
            stdin=json.dumps(request),
            what='signing requests',
        )
        return {
            kind: [_request(kind, path) for path in paths_of_kind]
            for kind, paths_of_kind in json.loads(output).items()
        }

    def prepare(self, kinds, keys, count):
        """Create the objects, and sign requests for :meth:`load`."""
        self._keys = self.create_keys(keys)
        self._requests = self.sign(kinds, self._keys, count, create=True)
        for number, requests in enumerate(self._requests.values()):
            # The requests to Keystone are the same for each kind.
            count = USERS if number else keys
            load.once([self.url], requests[:count], USERS)

    def keystone_requests(self, count) -> list:
        """Requests that RadosGW sends to Keystone for S3 requests.

        Without a cache, it issues a token for each of these requests.

        :param count: number of S3 requests
        :returns: list of requests, see :mod:`bench.load`
        """
        keystone = self.side.keystone
        callers = itertools.cycle(
            client.tokens(keystone, 1 if self._has_cache else 2 * count)
        )
        body = client.login_body(keystone)
        login = '', '', body, 'POST', '/v3/auth/tokens'
        owners = population.round_robin(self._accounts, len(self._keys))
        keys = list(zip(owners, self._keys, strict=True))
        requests = []
        for owner, (access, secret) in population.round_robin(keys, count):
            user = owner.credentials['OS_USER_ID']
            for body, path in (
                (json.dumps(signing.s3(access, secret)), '/v3/s3tokens'),
                ('', f'/v3/users/{user}/credentials/OS-EC2/{access}'),
            ):
                if not self._has_cache:
                    requests.append(login)
                method = 'POST' if body else 'GET'
                requests.append((next(callers), '', body, method, path))
        return requests

    def load(self, kind, seconds, clients):
        """Send requests of a kind for some seconds.

        :returns: :class:`bench.load.Answers`
        """
        requests = self._requests[kind]
        answers = load.during(self.url, requests, seconds, clients)
        # The next load starts with different ones.
        start = answers.requests % len(requests)
        self._requests[kind] = requests[start:] + requests[:start]
        return answers


def _create_key(owner):
    account, token = owner
    ids = (account.credentials[f'OS_{one}_ID'] for one in ('USER', 'PROJECT'))
    return client.create_access_key(account, token, *ids)


def _request(kind, path):
    body = _BODY if kind == 'put' else ''
    return '', '', body, 'PUT' if body else 'GET', path


def options(keystone, size):
    """Options of a RadosGW that uses a Keystone.

    :param size: size of its cache; 0 disables it
    """
    account = keystone.credentials
    return {
        'rgw_keystone_url': keystone.url.removesuffix('/v3'),
        'rgw_keystone_admin_user': account['OS_USERNAME'],
        'rgw_keystone_admin_password': account['OS_PASSWORD'],
        'rgw_keystone_admin_domain': account['OS_USER_DOMAIN_NAME'],
        'rgw_keystone_admin_project': account['OS_PROJECT_NAME'],
        'rgw_keystone_token_cache_size': size,
    }


@contextlib.contextmanager
def started(sides, caches, venv):
    """Start Ceph, and one RadosGW for each side and each cache setting.

    :param sides: list of :class:`bench.testbed.Side`
    :param caches: {name: size of RadosGW's cache of tokens and secrets}
    :param venv: the environment with boto3
    :returns: {(side, cache): :class:`Gateway`}
    """
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(testbed.temporary_folder())
        progress.step('starting Ceph')
        monitor = stack.enter_context(ceph.cluster(folder))
        gateways = {}
        for side in sides:
            accounts = population.accounts(side.keystone, USERS)
            for cache, size in caches.items():
                progress.step(f'starting RadosGW, {side.name}, cache {cache}')
                server = stack.enter_context(
                    ceph.RadosGW(monitor, options(side.keystone, size), folder)
                )
                gateways[side, cache] = Gateway(
                    side, cache, size > 0, server, venv, accounts
                )
        yield gateways
