# SPDX-License-Identifier: Apache-2.0

"""Whether other processes see what this one caches."""

import keystone.conf

CONF = keystone.conf.CONF

# Backends that all processes of a cloud can share. Any other may be one of
# this process alone, which tells nothing about other processes.
_BACKENDS = frozenset(
    (
        'dogpile.cache.bmemcached',
        'dogpile.cache.memcached',
        'dogpile.cache.pylibmc',
        'dogpile.cache.pymemcache',
        'dogpile.cache.redis',
        'dogpile.cache.redis_sentinel',
        'dogpile.cache.valkey',
        'dogpile.cache.valkey_sentinel',
        'oslo_cache.etcd3gw',
        'oslo_cache.memcache_pool',
        'oslo_cache.mongo',
    )
)


def is_shared():
    """Tell whether other processes read and write the same cache."""
    return CONF.cache.enabled and CONF.cache.backend in _BACKENDS
