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
    :param cache: a :class:`patchset.services.memcached.Memcached` for it,
        running
    :param cache_time: ``token_cache_time`` in seconds; -1 disables the cache
    """

    name = 'service'
    user = None  # other users may lack access to trees and environments

    def __init__(self, keystone, account, cache, cache_time):
        super().__init__()
        self._keystone = keystone
        self._options = {
            'auth_type': 'password',
            'auth_url': keystone.url,
            'www_authenticate_uri': keystone.url,
            'user_id': account.credentials['OS_USER_ID'],
            'password': account.credentials['OS_PASSWORD'],
            'project_id': account.credentials['OS_PROJECT_ID'],
            'token_cache_time': cache_time,
            'memcached_servers': cache.address,
        }

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

    def _command(self):
        return wsgi.serve(self._keystone, APPLICATION, self.port, PROCESSES)

    def _variables(self):
        variables = wsgi.variables(
            self._keystone.environment, self._keystone.tree
        )
        return {**variables, 'SERVICE': json.dumps(self._options)}

    def _is_ready(self):
        # Without a token, it sends no request to Keystone.
        return self.status('') == 401
