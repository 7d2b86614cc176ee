# SPDX-License-Identifier: Apache-2.0

"""Options of pruning revocation events."""

from oslo_config import cfg

from keystone.conf import utils

prune_interval = cfg.IntOpt(
    'prune_interval',
    default=10,
    min=0,
    help=utils.fmt(
        """
How often (in seconds) a revocation is followed by the deletion of at most 50
expired events, in a transaction of its own. One worker process does so in each
interval if the processes share a cache through `[cache] backend`, and each
process otherwise. The default keeps up with five revocations per second. A
lower value deletes more often; 0 turns it off. In that case, and if there are
more revocations than it keeps up with, run `keystone-manage revocation_prune`
regularly. This has no effect if the `[revoke] driver` cannot prune its events
in batches.
"""
    ),
)

GROUP_NAME = 'revoke'
ALL_OPTS = [prune_interval]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
