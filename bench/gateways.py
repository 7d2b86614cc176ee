# SPDX-License-Identifier: Apache-2.0

"""RadosGW for both sides, and signed S3 requests."""

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

USERS = 4  # all in one project, to which the bucket belongs
_BODY = 'x' * 1024


class Gateway:
    """A RadosGW whose users are those of one side.

    :param side: a :class:`bench.testbed.Side`
    :param cache: name of RadosGW's kind of cache
    :param is_off: whether it has none
    :param server: a :class:`patchset.services.ceph.RadosGW`, running
    :param venv: the environment that has boto3
    :param accounts: list of :class:`bench.cloud.Account`
    """

    def __init__(self, side, cache, is_off, server, venv, accounts):
        self.side = side
        #: address of its API of S3
        self.url = server.url
        self._bucket = f'{side.name}-{cache}'
        self._is_off = is_off
        self._venv = venv
        self._accounts = accounts
        self._requests = {}
        self._keys = []

    def keys(self, count) -> list:
        """Have the users make access keys: (access key, secret) of each."""
        # One token each: a password takes a while.
        owners = [(one, client.token(one)) for one in self._accounts]
        return client.map_concurrently(
            _key, population.round_robin(owners, count)
        )

    def sign(self, kinds, keys, count, make=False) -> dict:
        """Sign requests, which the keys do in turns.

        :param make: make the bucket and its objects before
        :returns: {kind: list as :func:`bench.load.once` takes it}
        """
        request = {
            'url': self.url, 'bucket': self._bucket, 'keys': keys,
            'kinds': kinds, 'count': count, 'make': make,
        }  # fmt: skip
        answer = child.run(
            [self._venv.python, '-P', '-m', 'bench.s3_signer'],
            env=self._venv.variables(paths.ROOT),
            stdin=json.dumps(request),
            what='signing requests',
        )
        return {
            kind: [_request(kind, path) for path in found]
            for kind, found in json.loads(answer).items()
        }

    def prepare(self, kinds, keys, count):
        """Make what is read, and sign requests for :meth:`load`."""
        self._keys = self.keys(keys)
        self._requests = self.sign(kinds, self._keys, count, make=True)
        for number, requests in enumerate(self._requests.values()):
            # What Keystone is asked is the same for each kind.
            count = USERS if number else keys
            load.once([self.url], requests[:count], USERS)

    def asked(self, count) -> list:
        """Requests that RadosGW sends to Keystone for S3 requests.

        Without a cache, it issues a token for each of its requests.

        :param count: number of S3 requests
        :returns: list as :func:`bench.load.once` takes it
        """
        keystone = self.side.keystone
        callers = itertools.cycle(
            client.tokens(keystone, 2 * count if self._is_off else 1)
        )
        body = client.login_body(keystone)
        login = '', '', body, 'POST', '/v3/auth/tokens'
        owners = population.round_robin(self._accounts, len(self._keys))
        keys = list(zip(owners, self._keys, strict=True))
        found = []
        for owner, (access, secret) in population.round_robin(keys, count):
            user = owner.credentials['OS_USER_ID']
            for body, path in (
                (signing.s3(access, secret).decode(), '/v3/s3tokens'),
                ('', f'/v3/users/{user}/credentials/OS-EC2/{access}'),
            ):
                if self._is_off:
                    found.append(login)
                method = 'POST' if body else 'GET'
                found.append((next(callers), '', body, method, path))
        return found

    def load(self, kind, seconds, clients):
        """Send requests of a kind for some seconds.

        :returns: :class:`bench.load.Answers`
        """
        requests = self._requests[kind]
        found = load.during(self.url, requests, seconds, clients)
        # Those that come next are others.
        start = found.requests % len(requests)
        self._requests[kind] = requests[start:] + requests[:start]
        return found


def _key(owner):
    account, token = owner
    ids = (account.credentials[f'OS_{one}_ID'] for one in ('USER', 'PROJECT'))
    return client.create_access_key(account, token, *ids)


def _request(kind, path):
    body = _BODY if kind == 'put' else ''
    return '', '', body, 'PUT' if body else 'GET', path


def options(keystone, size):
    """Options of a RadosGW that asks a Keystone.

    :param size: of its cache; 0 switches it off
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
    """Start Ceph, and one RadosGW for each side and each kind of cache.

    :param sides: list of :class:`bench.testbed.Side`
    :param caches: {name: size of RadosGW's cache of tokens and secrets}
    :param venv: the environment that has boto3
    :returns: {(side, cache): :class:`Gateway`}
    """
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(testbed.temporary_folder())
        progress.step('starting Ceph')
        monitor = stack.enter_context(ceph.cluster(folder))
        found = {}
        for side in sides:
            accounts = population.accounts(side.keystone, USERS)
            for cache, size in caches.items():
                progress.step(f'starting RadosGW, {side.name}, cache {cache}')
                own = options(side.keystone, size)
                server = ceph.RadosGW(monitor, own, folder)
                stack.enter_context(server)
                found[side, cache] = Gateway(
                    side, cache, not size, server, venv, accounts
                )
        yield found
