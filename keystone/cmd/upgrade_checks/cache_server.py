# SPDX-License-Identifier: Apache-2.0

"""Whether processes share a cache that keeps what it is given."""

import functools
import secrets

from oslo_cache import core as oslo_cache

from keystone.cmd.upgrade_checks import findings
from keystone.common.cache import shared
import keystone.conf

CONF = keystone.conf.CONF

# Keeps nothing.
_NULL = 'dogpile.cache.null'

# Gives one lease time to all that it keeps.
_ETCD = 'oslo_cache.etcd3gw'


def check(commands):
    return findings.result(
        _find(), 'Processes share a cache, and it keeps what it is given.'
    )


def _find():
    backend = CONF.cache.backend
    if not CONF.cache.enabled or backend == _NULL:
        yield (
            findings.WARNING,
            'Nothing is cached: each request is computed anew, and asks the '
            'database whether a token is revoked. Set [cache] enabled, '
            'backend and the servers.',
        )
        return
    if not shared.is_shared():
        yield (
            findings.WARNING,
            f'[cache] backend is {backend}, which is not known to be shared '
            'by processes. Unless there is only one process, users, projects '
            'and grants that one of them disables or removes are accepted by '
            'the others for the lifetime of what they have cached. Answers '
            'to validations are not kept.',
        )
        return
    if backend == _ETCD:
        yield (
            findings.WARNING,
            f'{_ETCD} lets the ids of the cache regions expire, and with '
            'them everything that is cached. Use memcached, Redis or Valkey.',
        )
    if not keeps():
        yield (
            findings.FAILURE,
            'The cache does not return what it was just given: are the '
            'servers right, and can they be reached? What this node '
            'invalidates does not reach the others, which accept what it '
            'disables until their values expire.',
        )


@functools.cache
def keeps() -> bool:
    """Whether the cache has a value that was put there; asked once."""
    region = oslo_cache.create_region()
    try:
        oslo_cache.configure_cache_region(CONF, region)
        key = f'keystone-status-{secrets.token_hex(16)}'
        region.set(key, key)
        found = region.get(key)
        region.delete(key)
    except Exception:
        # Its text can name accounts.
        return False
    return found == key
