# SPDX-License-Identifier: Apache-2.0

"""Bounds on how long a revoked token may be accepted."""

from keystone.cmd.upgrade_checks import cache_server
from keystone.cmd.upgrade_checks import findings
from keystone.common.cache import shared
from keystone.common import provider_api
import keystone.conf
from keystone.revoke.backends import incremental

CONF = keystone.conf.CONF
PROVIDERS = provider_api.ProviderAPIs

# Seconds.
_LONGEST_INTERVAL = 60
_SHORTEST_OVERLAP = 10


def check(commands):
    return findings.result(
        _find(), 'Tokens are checked against a synchronized replica.'
    )


def _find():
    if not CONF.revoke.max_events_in_memory:
        # Reported by the check of disabled features.
        return
    if not isinstance(
        PROVIDERS.revoke_api.driver, incremental.IncrementalRead
    ):
        yield (
            findings.WARNING,
            f'[revoke] driver {CONF.revoke.driver} does not support '
            'incremental reads: each validation queries it for the events '
            'that may apply to the token.',
        )
        return
    yield from _find_in_cache()
    yield from _find_in_options()


def _find_in_cache():
    interval = CONF.revoke.sync_interval
    if shared.is_shared() and not cache_server.keeps():
        yield (
            findings.FAILURE,
            'The cache does not return a value just stored: tokens revoked '
            'by another process are accepted for up to [revoke] '
            f'sync_interval, {interval} seconds.',
        )
    elif shared.is_shared() and interval > _LONGEST_INTERVAL:
        yield (
            findings.WARNING,
            f'[revoke] sync_interval is {interval}: if the cache loses the '
            'announcement of a revocation, the token is accepted for up to '
            'that many seconds.',
        )


def _find_in_options():
    if CONF.revoke.sync_overlap < _SHORTEST_OVERLAP:
        yield (
            findings.WARNING,
            f'[revoke] sync_overlap is {CONF.revoke.sync_overlap}: a '
            'revocation whose transaction takes longer than that many '
            'seconds may take effect late.',
        )
    if not CONF.revoke.recount_interval:
        yield (
            findings.WARNING,
            '[revoke] recount_interval is 0: a missed revocation is never '
            'detected, and the token is accepted until it expires.',
        )
    if not CONF.revoke.prune_interval:
        yield (
            findings.WARNING,
            '[revoke] prune_interval is 0: expired events accumulate unless '
            'keystone-manage revocation_prune runs regularly.',
        )
