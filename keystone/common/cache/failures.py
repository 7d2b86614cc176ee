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

"""Requests that go on when the cache fails.

A value that cannot be read is missing, and one that cannot be stored is not
cached. A value that cannot be dropped might come back, so its whole region is
invalidated; :mod:`keystone.common.cache.region_ids` takes care of that.
"""

from dogpile.cache import api
from dogpile.cache import proxy
from oslo_log import log

from keystone.common.cache import backend_writes
from keystone.common.cache import current_stamps
from keystone.common.cache import health
from keystone.common.cache import region_ids
from keystone.common.cache import stamps
import keystone.conf

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

# Each request begins with the ids of the regions, which are rarely others than
# those that the guard has judged before.
stamps.read_ids = current_stamps.read_ids


class Failures(proxy.ProxyBackend):
    """Keeps the failures of a backend from the region in front of it.

    :param invalidate: callable, invalidates the region
    :param is_shared: callable, tells whether other processes use the same
        keys as this thread
    :param servers: a :class:`~keystone.common.cache.health.Health`, the one of
        ``[cache]`` if left out
    """

    def __init__(self, invalidate, is_shared, servers=None):
        super().__init__()
        self._invalidate = invalidate
        self._is_shared = is_shared
        self._servers = servers or health.SERVERS

    def get(self, key):
        return self._read(self.proxied.get, key)

    def get_serialized(self, key):
        return self._read(self.proxied.get_serialized, key)

    def get_multi(self, keys):
        return self._read_all(self.proxied.get_multi, keys)

    def get_serialized_multi(self, keys):
        return self._read_all(self.proxied.get_serialized_multi, keys)

    def set(self, key, value):
        self._store(self.proxied.set, key, value)

    def set_serialized(self, key, value):
        self._store(self.proxied.set_serialized, key, value)

    def set_multi(self, mapping):
        self._store(self.proxied.set_multi, mapping)

    def set_serialized_multi(self, mapping):
        self._store(self.proxied.set_serialized_multi, mapping)

    def delete(self, key):
        # Under keys of this process alone, there is nothing to drop: what
        # the others use has another name.
        if self._is_shared():
            answer = self._servers.attempt(self.proxied.delete, key)
            if answer is not health.FAILED and answer is not False:
                return
        LOG.info('A cached value could not be dropped: its region is.')
        self._invalidate()

    def delete_multi(self, keys):
        for key in keys:
            self.delete(key)

    def _read(self, get, key):
        value = self._servers.attempt(get, key)
        return api.NO_VALUE if value is health.FAILED else value

    def _read_all(self, get, keys):
        keys = list(keys)
        values = self._servers.attempt(get, keys)
        if values is health.FAILED:
            return [api.NO_VALUE] * len(keys)
        return values

    def _store(self, put, *args):
        if self._servers.is_resting:
            return
        try:
            put(*args)
        except Exception as error:
            # That may be the value's fault. The next read will tell if it is
            # the server's.
            LOG.debug('A value was not cached: %s', type(error).__name__)


def survived(region, manager):
    """Let requests go on when a region's backend fails.

    :param region: a region that is configured to its end
    :param manager: the region's :class:`keystone.common.cache.stamps.Stamp`
    """
    if not CONF.cache.survive_failures or not region_ids.can_fail(region):
        return
    for layer in backend_writes.layers(region):
        if isinstance(layer, backend_writes.Writes):
            break
    else:
        layer = backend_writes.writes_of(region, region_ids.without_expiry)
    backend_writes.insert(
        region, Failures(region.invalidate, manager.is_shared), layer
    )
