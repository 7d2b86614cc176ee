# SPDX-License-Identifier: Apache-2.0

"""Whether the cache is shared between processes."""

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


def is_shared():
    """Whether other processes read and write the same cache."""
    return CONF.cache.enabled and CONF.cache.backend in _BACKENDS
