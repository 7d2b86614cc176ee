# SPDX-License-Identifier: Apache-2.0

"""What processes share through the cache.

A region id is random. The process that changes it may append a tag, which
others read together with the id: there is no second key that could be older
than the first one, or get lost.
"""

import threading

import keystone.conf

CONF = keystone.conf.CONF

#: Backends for servers of each kind.
MEMCACHED = frozenset(
    (
        'dogpile.cache.bmemcached',
        'dogpile.cache.memcached',
        'dogpile.cache.pylibmc',
        'dogpile.cache.pymemcache',
        'oslo_cache.memcache_pool',
    )
)
REDIS = frozenset(
    (
        'dogpile.cache.redis',
        'dogpile.cache.redis_sentinel',
        'dogpile.cache.valkey',
        'dogpile.cache.valkey_sentinel',
    )
)

# Backends that all processes of a cloud can share. Others may be private to
# the process.
_BACKENDS = MEMCACHED | REDIS | {'oslo_cache.etcd3gw', 'oslo_cache.mongo'}

#: Random bytes of an id, as in earlier releases.
RANDOM = 10

_tags = threading.local()


def is_shared():
    """Whether other processes read and write the same cache."""
    return CONF.cache.enabled and CONF.cache.backend in _BACKENDS


def put_tag(manager, tag):
    """Append a tag to the ids that this thread generates for a region.

    :param manager: the region's
        :class:`keystone.common.cache.RegionInvalidationManager`
    :param tag: bytes
    """
    vars(_tags)[manager._region_key] = tag


def next_tag(manager):
    """The tag that this thread appends, as bytes."""
    return vars(_tags).get(manager._region_key, b'')


def tag_of(region_id):
    """The tag of an id, as bytes."""
    return region_id[RANDOM:]
