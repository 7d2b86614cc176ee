# SPDX-License-Identifier: Apache-2.0

"""Options of pruning expired revocation events."""

from oslo_config import cfg

from keystone.conf import utils

prune_interval = cfg.IntOpt(
    'prune_interval',
    default=10,
    min=0,
    help=utils.fmt(
        """
Minimum time (in seconds) between two deletions of expired revocation events.
Each deletes at most 50 events, in a transaction of its own, after a revocation
has been committed. If the processes share a cache through `[cache] backend`,
one worker process does this per interval; otherwise each process does. The
default keeps up with five revocations per second. Lower values delete events
more often. If set to 0, events are not deleted automatically. In that case, or
at higher revocation rates, run `keystone-manage revocation_prune` regularly.
This has no effect if the `[revoke] driver` does not support deleting events in
batches.
"""
    ),
)

GROUP_NAME = 'revoke'
ALL_OPTS = [prune_interval]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
