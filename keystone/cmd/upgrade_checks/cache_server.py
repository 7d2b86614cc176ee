# SPDX-License-Identifier: Apache-2.0

"""Whether processes share a working cache."""

import functools
import secrets

from oslo_cache import core as oslo_cache

from keystone.cmd.upgrade_checks import findings
from keystone.common.cache import shared
import keystone.conf

CONF = keystone.conf.CONF

# Does not store values.
_NULL = 'dogpile.cache.null'

# Applies the same lease time to all values.
_ETCD = 'oslo_cache.etcd3gw'


def check(commands):
    return findings.result(_find(), 'Processes share a working cache.')


def _find():
    backend = CONF.cache.backend
    if not CONF.cache.enabled or backend == _NULL:
        yield (
            findings.WARNING,
            'Nothing is cached: each request is fully processed and queries '
            'the database for revocation events. Set [cache] enabled, '
            'backend and the servers.',
        )
        return
    if not shared.is_shared():
        yield (
            findings.WARNING,
            f'[cache] backend is {backend}, which is not known to be shared '
            'between processes. Users, projects and grants that one process '
            'disables or removes are accepted by other processes until their '
            'cached values expire. Validation results are not kept.',
        )
        return
    if backend == _ETCD:
        yield (
            findings.WARNING,
            f'{_ETCD} expires the ids of cache regions, which invalidates all '
            'cached values. Use memcached, Redis or Valkey.',
        )
    if not keeps():
        yield (
            findings.FAILURE,
            'The cache does not return a value just stored. Check that the '
            'configured servers are correct and reachable. Invalidations by '
            'this node do not reach other nodes, which accept disabled '
            'entities until their cached values expire.',
        )


@functools.cache
def keeps() -> bool:
    """Whether the cache returns a value just stored; checked once."""
    region = oslo_cache.create_region()
    try:
        oslo_cache.configure_cache_region(CONF, region)
        key = f'keystone-status-{secrets.token_hex(16)}'
        region.set(key, key)
        found = region.get(key)
        region.delete(key)
    except Exception:
        # The error message may contain credentials.
        return False
    return found == key
