# SPDX-License-Identifier: Apache-2.0

"""How long a revoked token may pass."""

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
        _find(), 'Tokens are checked by a copy that is in step.'
    )


def _find():
    if not CONF.revoke.use_tree:
        # The switches tell, and what follows has no effect.
        return
    if not _is_incremental():
        yield (
            findings.WARNING,
            f'[revoke] driver {CONF.revoke.driver} cannot read its events '
            'incrementally: each validation asks it for all that may concern '
            'a token.',
        )
        return
    interval = CONF.revoke.sync_interval
    if shared.is_shared() and not cache_server.keeps():
        yield (
            findings.FAILURE,
            'The cache does not return what it was just given: a process '
            'accepts a token that another one has revoked for [revoke] '
            f'sync_interval, {interval} seconds.',
        )
    elif shared.is_shared() and interval > _LONGEST_INTERVAL:
        yield (
            findings.WARNING,
            f'[revoke] sync_interval is {interval}: if the cache loses the '
            'sign of a revocation, the token is accepted for that many '
            'seconds.',
        )
    if CONF.revoke.sync_overlap < _SHORTEST_OVERLAP:
        yield (
            findings.WARNING,
            f'[revoke] sync_overlap is {CONF.revoke.sync_overlap}: a '
            'revocation whose transaction takes more than that many seconds '
            'can be seen late.',
        )
    if not CONF.revoke.recount_interval:
        yield (
            findings.WARNING,
            '[revoke] recount_interval is 0: a revocation that was missed is '
            'never found, and the token is accepted until it expires.',
        )
    if not CONF.revoke.prune_interval:
        yield (
            findings.WARNING,
            '[revoke] prune_interval is 0: expired events stay and take time '
            'and memory unless keystone-manage revocation_prune runs '
            'regularly.',
        )


def _is_incremental():
    return isinstance(PROVIDERS.revoke_api.driver, incremental.IncrementalRead)
