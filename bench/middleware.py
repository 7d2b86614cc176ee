# SPDX-License-Identifier: Apache-2.0

"""A service behind keystonemiddleware."""

import json
import pathlib
import time

from bench import client
from patchset import client as clients
from patchset import errors
from patchset import wsgi
from patchset.services import server

APPLICATION = pathlib.Path(__file__).parent / 'service.py'
PROCESSES = 2
_POLL_INTERVAL = 0.01  # seconds


class Service(server.Server):
    """A service whose requests are authenticated by a side's Keystone.

    :param keystone: a :class:`patchset.deployment.Deployment`, running
    :param account: the :class:`bench.cloud.Account` of the service
    :param cache: a :class:`patchset.services.memcached.Memcached` for it
    :param cache_time: ``token_cache_time`` in seconds; -1 disables the cache
    """

    name = 'service'
    user = None  # other users may lack access to trees and environments

    def __init__(self, keystone, account, cache, cache_time):
        super().__init__()
        self._keystone = keystone
        self._account = account
        self._cache_time = cache_time
        self._cache = cache

    @property
    def url(self) -> str:
        """URL of the service."""
        return f'http://127.0.0.1:{self.port}/'

    def status(self, token: str) -> int:
        """Status of the response to a request with a token; 0 without one."""
        return clients.Client(self.port).ask('GET', '', token).status

    def rejection_delay(self, token: str) -> float:
        """Revoke a token; the seconds after which the service rejects it.

        Before, each process of the service accepts it.

        :raises patchset.errors.Error: the service does not respond
        """
        for _ in range(4 * PROCESSES):
            self.status(token)
        client.revoke(self._keystone, token, token)
        start = time.monotonic()
        while (status := self.status(token)) == 200:
            time.sleep(_POLL_INTERVAL)
        if not status:
            raise errors.Error(f'{self.url} does not respond')
        return time.monotonic() - start

    def _options(self):
        account = self._account.credentials
        return {
            'auth_type': 'password',
            'auth_url': self._keystone.url,
            'www_authenticate_uri': self._keystone.url,
            'user_id': account['OS_USER_ID'],
            'password': account['OS_PASSWORD'],
            'project_id': account['OS_PROJECT_ID'],
            'token_cache_time': self._cache_time,
            'memcached_servers': self._cache.address,
        }

    def _command(self):
        return wsgi.serve(self._keystone, APPLICATION, self.port, PROCESSES)

    def _variables(self):
        variables = wsgi.variables(
            self._keystone.environment, self._keystone.tree
        )
        return {**variables, 'SERVICE': json.dumps(self._options())}

    def _is_ready(self):
        # Without a token, it sends no request to Keystone.
        return self.status('') == 401
