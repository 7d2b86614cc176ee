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

"""The ids of all cache regions, read together once for each request.

A region is invalidated by giving it a new id. So the ids are stamps: while
they are the same, nothing was invalidated. One more id, which belongs to no
region, changes when single values are deleted or replaced.
"""

import contextvars
import functools
import threading

from dogpile.cache import proxy
from oslo_cache import core as oslo_cache
from oslo_context import context as oslo_context
from oslo_log import log

from keystone.common.cache import _context_cache
from keystone.common.cache import after_write
from keystone.common.cache import id_history
from keystone.common.cache import id_note
from keystone.common.cache import request_local
from keystone.common.cache import unpatched_nodes
import keystone.conf

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

# Where the ids stand on the context of a request, for request_local.keep().
_ATTRIBUTE = '_request_cache_stamps'

# Keys of the ids, as upstream forms them from the names of the regions. The
# first one changes with single values, and is of no region.
_WRITES = '<<<region>>>:single values'
_REVOCATION = '<<<region>>>:revoke'

#: Regions that are dropped as a whole for the sake of some user. Nothing that
#: is kept may rest on their values.
DROPPED_FOR_OTHERS = frozenset(('tokens', 'receipts', 'credentials'))
_PASSED_OVER = frozenset(
    (_WRITES, *(f'<<<region>>>:{name}' for name in DROPPED_FOR_OTHERS))
)

# Regions whose single values never change: their keys are tokens. Nobody's
# copy need be dropped when one of them is issued, or revoked.
_UNCHANGING = frozenset(('tokens', 'receipts'))

_history = id_history.IdHistory()
_stamps = {}
_is_new = contextvars.ContextVar('value that is new', default=False)
# Keys of all ids but that of revocations, in one order.
_compared = []


class Stamps:
    """What all cached values are valid under, as of one request.

    Two are equal if nothing was invalidated in between, revocations aside.

    :ivar revocation: id of the region that changes with each revocation
    """

    __slots__ = ('_ids', 'revocation')

    def __init__(self, ids, revocation):
        self._ids = ids
        self.revocation = revocation

    def __eq__(self, other):
        if not isinstance(other, Stamps):
            return NotImplemented
        return self._ids == other._ids

    def __hash__(self):
        return hash(self._ids)

    def differs_in_single_values(self, other):
        """Tell whether all that was changed since are single values.

        And values of :data:`DROPPED_FOR_OTHERS`.
        """
        return _of_regions(self._ids) == _of_regions(other._ids)


def _of_regions(ids):
    return [one for one in ids if one[0] not in _PASSED_OVER]


def read():
    """Read what all cached values are valid under.

    At most once for each request, and anew for each call outside of requests.

    :returns: :class:`Stamps`; None if the stamps cannot be read
    """
    return stand_for(_known_ids())


def fetch_all():
    """Read the ids of all regions, for no request.

    :returns: :class:`_Ids`
    :raises: what the cache server's client raises, if that fails
    """
    return _fetch(list(_stamps))


#: Reads the ids for a request. Whoever can do what :func:`fetch_all` does with
#: less work may take its place.
read_ids = fetch_all


def stand_for(ids):
    """What values are valid under that were cached under some ids.

    :param ids: :class:`_Ids`, or None
    :returns: :class:`Stamps`; None if the ids tell nothing
    """
    if ids is None or not ids.are_stored or not _are_read():
        return None
    compared = tuple((key, ids.get(key)) for key in _compared)
    return Stamps(compared, ids.get(_REVOCATION))


def writes():
    """Read the id that changes when single values are deleted or replaced.

    :returns: bytes; None if it cannot be read
    """
    ids = _known_ids()
    return ids and ids[_WRITES]


def written():
    """Tell all processes that a single value was deleted or replaced."""
    if _WRITES in _stamps and not _is_new.get():
        after_write.invalidate_later(_stamps[_WRITES])


def set_new(memoized, value, *args):
    """Cache a value that nobody can have cached before.

    :param memoized: function that a memoization decorator has made
    :param args: its arguments, ``self`` among them
    """
    reset = _is_new.set(True)
    try:
        memoized.set(value, *args)
    finally:
        _is_new.reset(reset)


def join(region, manager):
    """Have the id of a region read with those of the others.

    :param region: the :class:`dogpile.cache.region.CacheRegion`
    :param manager: its
        :class:`keystone.common.cache.RegionInvalidationManager`
    :returns: a :class:`Stamp`, to use in place of the manager
    """
    if _WRITES not in _stamps:
        name = _WRITES.removeprefix(manager.REGION_KEY_PREFIX)
        _add(type(manager)(manager._invalidation_region, name))
    if region.name not in _UNCHANGING:
        for name in ('set', 'set_multi', 'delete', 'delete_multi'):
            setattr(region, name, _telling(region, name))
    unpatched_nodes.configure(region)
    _name_layers(region)
    stamp = _add(manager)
    stamp.region = region.name
    return stamp


def _name_layers(region):
    """Tell the proxies of a region whose they are."""
    layer = region.backend
    while isinstance(layer, proxy.ProxyBackend):
        layer.region_name = region.name
        layer = layer.proxied


def _add(manager):
    stamp = Stamp(manager)
    _stamps[manager._region_key] = stamp
    _compared[:] = sorted(_stamps.keys() - {_REVOCATION})
    return stamp


def _telling(region, name):
    """A method of a region that tells all processes when it is done."""

    @functools.wraps(getattr(type(region), name))
    def tell(*args, **kwargs):
        try:
            return getattr(type(region), name)(region, *args, **kwargs)
        finally:
            written()

    return tell


class Stamp:
    """The id of one region, in place of the manager of upstream.

    :param manager: a :class:`keystone.common.cache.RegionInvalidationManager`
    :ivar region: name of the region; None if the id is of no region
    """

    region = None

    def __init__(self, manager):
        self.REGION_KEY_PREFIX = manager.REGION_KEY_PREFIX
        self._region_key = manager._region_key
        self._invalidation_region = manager._invalidation_region
        self._manager = manager
        self._given = threading.local()

    def is_region_key(self, key):
        return self._manager.is_region_key(key)

    @property
    def region_id(self):
        """The id as of this request, as bytes.

        :raises: what the cache server's client raises, if that fails
        """
        context = oslo_context.get_current()
        ids = getattr(context, _ATTRIBUTE, None)
        if ids is not None or CONF.cache_stamps.together:
            region_id = (ids or _ids(context))[self._region_key]
        else:
            region_id = self._manager.region_id
        self._given.id = region_id
        return region_id

    def is_shared(self):
        """Whether other processes use the id that this thread got last."""
        return not _is_unshared(getattr(self._given, 'id', b''))

    def invalidate_region(self):
        """Give the region a new id, and return it.

        :raises: what the cache server's client raises, if that fails
        """
        along = self._along()
        try:
            return self._invalidate()
        finally:
            if along:
                along.invalidate_region()

    def _along(self):
        """What unpatched nodes rely on to be invalidated with the region."""
        along = self.region and unpatched_nodes.dropped_along(self.region)
        return along and _stamps.get(self.REGION_KEY_PREFIX + along)

    def _invalidate(self):
        if not CONF.cache_stamps.together:
            return self._manager.invalidate_region()
        if not _history.knows(self._region_key):
            # Otherwise nobody would notice if the old id stayed.
            _known_ids()
        began = _history.now()
        try:
            region_id = self._manager.invalidate_region()
        except Exception:
            _history.outdate(self._region_key)
            raise
        _history.seen(self._region_key, region_id, began)
        ids = getattr(oslo_context.get_current(), _ATTRIBUTE, None)
        if ids is not None:
            ids[self._region_key] = region_id
        return region_id

    def new_id(self):
        return self._manager._generate_new_id()


class _Ids(dict):
    """The id of each region, by its key.

    :ivar are_stored: False if the server did not take some of them, or has
        others that this process must not use, or if they do not tell of all
        changes
    """

    are_stored = True

    def copy(self):
        ids = _Ids(self)
        ids.are_stored = self.are_stored
        return ids

    def __missing__(self, key):
        # The region was configured after this request has begun.
        late = _fetch([key])
        self.update(late)
        self.are_stored = self.are_stored and late.are_stored
        return self[key]


def _known_ids():
    """The ids, or None if they tell nothing."""
    context = request_local.current()
    ids = getattr(context, _ATTRIBUTE, None)
    if ids is None:
        if not _are_read() or not _stamps:
            return None
        try:
            ids = _ids(context)
        except Exception as error:
            LOG.warning('Cannot read the stamps of the cache: %s', error)
            return None
    return ids if ids.are_stored else None


def _are_read():
    return CONF.cache.enabled and CONF.cache_stamps.together


def _ids(context):
    """The ids that are kept on a context, or anew if it is None."""
    ids = getattr(context, _ATTRIBUTE, None)
    if ids is None:
        ids = read_ids()
        if context is not None:
            setattr(context, _ATTRIBUTE, ids)
    return ids


def _fetch(keys):
    region = _stamps[keys[0]]._invalidation_region
    began = _history.now()
    return take(keys, region.get_multi(keys, ignore_expiration=True), began)


def take(keys, found, began):
    """Note the ids that a server has, and replace those that must not be used.

    :param keys: list of keys of regions
    :param found: list of their ids, with ``NO_VALUE`` for what is missing
    :param began: moment of the history when the read began
    :returns: :class:`_Ids`
    :raises: what the cache server's client raises, if that fails
    """
    region = _stamps[keys[0]]._invalidation_region
    ids = _Ids()
    lost = []
    for key, region_id in zip(keys, found):
        if _is_good(key, region_id, began):
            _take(ids, key, region_id, began)
        else:
            lost.append(key)
    if lost:
        _replace(region, lost, ids)
    if unpatched_nodes.are_there():
        ids.are_stored = False
    return ids


def _is_good(key, region_id, began):
    if region_id is oslo_cache.NO_VALUE:
        return False
    return not _history.is_outdated(key, region_id, began)


def _is_unshared(region_id):
    return id_note.read(region_id) == id_note.UNSHARED


def _take(ids, key, region_id, began):
    ids[key] = region_id
    if _is_unshared(region_id):
        # It takes the place of none, and tells nothing.
        ids.are_stored = False
    else:
        _history.seen(key, region_id, began)


def _replace(region, keys, ids):
    """Give new ids to regions that have none, or one that is outdated.

    Other processes may do so at the same time: whose ids the server has in
    the end are taken.
    """
    new = {key: _stamps[key].new_id() for key in keys}
    region.set_multi(new)
    began = _history.now()
    found = region.get_multi(keys, ignore_expiration=True)
    for key, region_id in zip(keys, found):
        if _is_good(key, region_id, began):
            _take(ids, key, region_id, began)
        else:
            # As good as no cache, for this request.
            ids[key] = new[key]
            ids.are_stored = False


class Together(_context_cache._ResponseCacheProxy):
    """Proxy of the region of the ids: several are never read one by one."""

    def get_multi(self, keys):
        return self.proxied.get_multi(keys)

    def set_multi(self, mapping):
        self.proxied.set_multi(mapping)
