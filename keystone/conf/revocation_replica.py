# SPDX-License-Identifier: Apache-2.0

"""Options of the in-memory replica of revocation events."""

from oslo_config import cfg

from keystone.conf import utils

max_events_in_memory = cfg.IntOpt(
    'max_events_in_memory',
    default=1000000,
    min=0,
    help=utils.fmt(
        """
Maximum number of revocation events that each worker process keeps in memory,
at about 100 bytes each, synchronized with the database. Tokens are checked
against this copy, so that the cost of a check does not depend on the number of
events. If the table has more, the process drops its copy, logs a warning, and
queries the database at each check for the events that may apply to the token,
until the number of events is down to 90% of this limit. These checks are
slower, and slow down further as events accumulate. Monitor this warning:
either tokens are being revoked in a loop, or the limit is too low. If set to
0, no events are kept in memory, and each check queries the database. This has
no effect if the `[revoke] driver` does not support incremental reads.
"""
    ),
)

sync_interval = cfg.IntOpt(
    'sync_interval',
    default=10,
    min=0,
    help=utils.fmt(
        """
Maximum time (in seconds) that a worker process checks tokens without querying
the database for new revocation events, if the processes share a cache through
`[cache] backend`. A revocation through Keystone is announced in the shared
cache and takes effect immediately. If the cache loses this announcement, or if
an event is written by something other than Keystone, a revoked token may be
accepted for up to this time. A thread queries the database twice per interval,
so that checks rarely wait for it, until there has been no check for five
minutes. Lower values cost more queries; if set to 0, each check queries the
database. This is also how long tokens are still checked while the database is
unreachable and nothing is revoked.
Processes that do not share a cache query the database at each check,
regardless of this option. This has no effect if `[revoke]
max_events_in_memory` is 0.
"""
    ),
)

sync_overlap = cfg.IntOpt(
    'sync_overlap',
    default=60,
    min=1,
    help=utils.fmt(
        """
Time (in seconds) during which worker processes look for revocation events that
were committed after events with a higher id. It must exceed the duration of
the longest transaction that records an event. The clocks of the hosts may
differ by up to an hour. An event committed later than this may be found only
after `[revoke] sync_interval`, and the tokens that it revokes may be accepted
until then. Higher values make each query slightly more expensive. This has no
effect if `[revoke] max_events_in_memory` is 0.
"""
    ),
)

recount_interval = cfg.IntOpt(
    'recount_interval',
    default=600,
    min=0,
    help=utils.fmt(
        """
Interval (in seconds) at which a worker process compares the number of its
revocation events with the number in the database, and reloads all events if
they differ. For up to this time, an event deleted by an operator still revokes
tokens, and a token may be accepted whose event was committed an hour or more
after it was recorded. Lower values count more often. If set to 0, events are
not counted. This has no effect if `[revoke] max_events_in_memory` is 0.
"""
    ),
)

GROUP_NAME = 'revoke'
ALL_OPTS = [
    max_events_in_memory,
    sync_interval,
    sync_overlap,
    recount_interval,
]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
