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

"""Ids of cache regions that are not lost, and do not come back.

The id of a region is a part of each key in it, so a new id invalidates all
values of the region at once. That fails in two ways. A server that does not
take the new id leaves the old one in force. A server that comes back after a
while, or takes the place of another, has an id that was replaced elsewhere.

:class:`Guard` stands in front of the backend of the invalidation region. With
each id dogpile.cache stores when it was made. The guard makes that an order: a
new id is younger than any that its process has seen, also if the clocks of the
hosts differ. An id that is older than one that the process has seen is not
used, and neither is any shared id as long as an invalidation of this process
has not been written. The process uses an id of its own then, under which
nobody else reads or writes. A note in that id says so, see
:mod:`keystone.common.cache.id_note`: what is valid under it must not be kept.
"""

import math
import secrets
import threading
import time

from dogpile.cache import api
from dogpile.cache.backends import null
from dogpile.cache import proxy
from dogpile.cache import region as dogpile_region
from oslo_log import log

from keystone.common import after_fork
from keystone.common.cache import backend_writes
from keystone.common.cache import health
from keystone.common.cache import id_note
import keystone.conf

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

# Seconds between two attempts to write the same id. A read that began before
# the last one, or from a replica that lags, still shows what was there before.
_PAUSE = 0.5

_BYTES = 10  # random ones, as in the ids that upstream makes


class _RegionId:
    """What the process knows about the id of one region."""

    def __init__(self):
        self.newest = 0.0  # when the youngest id was made that was seen
        self.lost = 0  # invalidations that were not written
        self.made_up_for = 0  # of those, how many an id has replaced since
        self.tried_at = -math.inf  # clock of the last attempt to write

    @property
    def is_owed(self):
        return self.lost > self.made_up_for


class Guard(proxy.ProxyBackend):
    """Judges the ids of regions that are read, and sees that new ones arrive.

    Whatever else the invalidation region holds passes through it. It raises
    no error of the backend: what cannot be read is missing. Any number of
    threads may use it.

    :param region: the invalidation region, configured
    :param servers: a :class:`~keystone.common.cache.health.Health`, the one of
        ``[cache]`` if left out
    :param clock: callable, returns seconds since the epoch
    :param ticks: callable, returns seconds that never go back
    """

    def __init__(
        self, region, servers=None, clock=time.time, ticks=time.monotonic
    ):
        super().__init__()
        self._region = region
        self._servers = servers or health.SERVERS
        self._clock = clock
        self._ticks = ticks
        self._ids = {}
        self._renew_lock()
        after_fork.call(self._renew_lock)

    def _renew_lock(self):
        self._lock = threading.Lock()

    def ask(self, get, keys):
        """Ask the servers for ids, without judging them.

        :param get: callable, takes the keys
        :returns: what it returns; ``NO_VALUE`` if the servers fail
        """
        values = self._servers.attempt(get, keys)
        return api.NO_VALUE if values is health.FAILED else values

    def get(self, key):
        return self._judge(key, self.ask(self.proxied.get, key))

    def get_serialized(self, key):
        return self._judge(key, self.ask(self.proxied.get_serialized, key))

    def get_multi(self, keys):
        return self._judge_all(self.proxied.get_multi, keys)

    def get_serialized_multi(self, keys):
        return self._judge_all(self.proxied.get_serialized_multi, keys)

    def set(self, key, value):
        self._take(key, value)

    def set_serialized(self, key, value):
        self._take(key, value)

    def set_multi(self, mapping):
        for key, value in mapping.items():
            self._take(key, value)

    def set_serialized_multi(self, mapping):
        self.set_multi(mapping)

    def delete(self, key):
        self._servers.attempt(self.proxied.delete, key)

    def delete_multi(self, keys):
        for key in keys:
            self.delete(key)

    def _judge_all(self, get, keys):
        keys = list(keys)
        values = self.ask(get, keys)
        if values is api.NO_VALUE:
            values = [values] * len(keys)
        return self.judge(keys, values)

    def judge(self, keys, values):
        """What to use for values that were read.

        :param values: list; ``NO_VALUE`` for what was not found
        :returns: list of values, some of which may be other ones
        """
        return [self._judge(key, value) for key, value in zip(keys, values)]

    def _judge(self, key, stored):
        """What to use for a value that was read, or not found."""
        value = self._parsed(stored)
        if value is None:
            if key in self._ids:
                return self._replaced(key)
            return api.NO_VALUE
        if not isinstance(value.payload, bytes):
            return stored
        known = self._known(key)
        made_at = value.metadata['ct']
        with self._lock:
            is_good = made_at >= known.newest and not known.is_owed
            if is_good:
                known.newest = made_at
        return stored if is_good else self._replaced(key)

    def _replaced(self, key):
        """A new id, written if it is time to, for one that is not used."""
        known = self._known(key)
        now = self._ticks()
        with self._lock:
            is_due = now - known.tried_at >= _PAUSE
            was_owed = known.is_owed
        if is_due:
            stored, is_written = self._write(key, known, self._new_id())
            if is_written and was_owed:
                LOG.info(
                    'The cache takes new ids of regions again. An '
                    'invalidation that it had not taken is in force.'
                )
            if is_written:
                return stored
        value = self._new_id(id_note.UNSHARED)
        return self._stored(value, value.metadata['ct'])

    def _new_id(self, note=b''):
        return api.CachedValue(
            secrets.token_bytes(_BYTES) + note,
            {'ct': self._clock(), 'v': dogpile_region.value_version},
        )

    def _take(self, key, stored):
        """Write what the region stores: for an id, an invalidation."""
        value = self._parsed(stored)
        if value is None or not isinstance(value.payload, bytes):
            self._put(key, stored)
            return
        known = self._known(key)
        _, is_written = self._write(key, known, value)
        if is_written:
            return
        with self._lock:
            first = not known.is_owed
            known.lost += 1
        if first:
            LOG.warning(
                'The cache did not take the new id of a region. This process '
                'uses no value of that region until it does; others may use '
                'what they have cached for as long as its cache time allows.'
            )

    def _write(self, key, known, value):
        """Write an id that is younger than those that were seen.

        :returns: the value as it is stored, and whether it was
        """
        with self._lock:
            known.tried_at = self._ticks()
            lost = known.lost
            made_at = max(
                value.metadata['ct'], math.nextafter(known.newest, math.inf)
            )
        stored = self._stored(value, made_at)
        is_written = self._put(key, stored)
        if is_written:
            with self._lock:
                known.newest = max(known.newest, made_at)
                # Only for what was lost before this was sent.
                known.made_up_for = max(known.made_up_for, lost)
        return stored, is_written

    def _put(self, key, stored):
        put = self.proxied.set
        if isinstance(stored, bytes):
            put = self.proxied.set_serialized
        answer = self._servers.attempt(put, key, stored)
        return answer is not health.FAILED and answer is not False

    def _known(self, key):
        return self._ids.setdefault(key, _RegionId())

    def _parsed(self, stored):
        """The value and its metadata, or None if there is none."""
        if isinstance(stored, bytes):
            try:
                stored = self._region._parse_serialized_from_backend(stored)
            except Exception as error:
                LOG.warning(
                    'The id of a region cannot be read: %s',
                    type(error).__name__,
                )
                return None
        return None if stored in (None, api.NO_VALUE) else stored

    def _stored(self, value, made_at):
        """A value as the backend takes it."""
        metadata = {**value.metadata, 'ct': made_at}
        if self._region.serializer:
            return self._region._serialized_payload(value.payload, metadata)
        return api.CachedValue(value.payload, metadata)


def guard(region):
    """Guard the ids that a region holds.

    :param region: the invalidation region, just configured
    """
    if CONF.cache.survive_failures and can_fail(region):
        backend_writes.writes_of(region, without_expiry)
        region.wrap(Guard(region))


def guard_of(region):
    """The guard of the invalidation region, or None if it has none."""
    for layer in backend_writes.layers(region):
        if isinstance(layer, Guard):
            return layer
    return None


def can_fail(region):
    """Tell whether a region's values are kept outside of this process.

    :param region: a configured :class:`dogpile.cache.region.CacheRegion`
    """
    backend = backend_writes.layers(region)[-1]
    return not isinstance(backend, null.NullBackend) and not issubclass(
        backend_writes.kind_of(backend), backend_writes.InProcessWrites
    )


def without_expiry(key):
    """Say of each key that it does not expire."""
    return None
