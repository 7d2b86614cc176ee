# SPDX-License-Identifier: Apache-2.0

"""Options of the copy of the revocation events in each process."""

from oslo_config import cfg

from keystone.conf import utils

use_tree = cfg.BoolOpt(
    'use_tree',
    default=True,
    help=utils.fmt(
        """
Check tokens against revocation events that each worker process keeps in
memory, in step with the database. This makes the cost of a check independent
of the number of events, for some 100 bytes of memory per event and process.
When disabled, the events that may concern a token are read from the database
each time the token is checked. This has no effect if the `[revoke] driver`
cannot read its events incrementally.
"""
    ),
)

max_events_in_memory = cfg.IntOpt(
    'max_events_in_memory',
    default=1000000,
    min=0,
    help=utils.fmt(
        """
The most revocation events that a worker process keeps in memory, for some 100
bytes each. When the table has more, the process forgets them, logs a warning,
and reads the events that may concern a token from the database each time the
token is checked, until the table is down to nine tenths of this. A check is
slower then, and takes longer the more events there are. Alert on it: it means
that tokens are revoked in a loop, or that this is too low. 0 is no limit. This
has no effect unless `[revoke] use_tree` is enabled.
"""
    ),
)

sync_interval = cfg.IntOpt(
    'sync_interval',
    default=10,
    min=0,
    help=utils.fmt(
        """
The longest time (in seconds) that a worker process checks tokens without
asking the database for new revocation events, when the processes share a cache
through `[cache] backend`. A revocation through Keystone shows in the shared
cache and is seen at once. This time is the longest that a revoked token can
still pass if the cache has lost that sign, or if something other than Keystone
has written the event. A lower value costs more queries, one per worker process
and interval at most; with 0 each check asks the database. This is also how
long tokens are still checked while the database cannot be reached. Processes
that share no cache ask the database at each check, whatever this is. This has
no effect unless `[revoke] use_tree` is enabled.
"""
    ),
)

sync_overlap = cfg.IntOpt(
    'sync_overlap',
    default=60,
    min=1,
    help=utils.fmt(
        """
How long (in seconds) each query of a worker process looks for revocation
events that were committed later than others with a higher id. It must exceed
the longest transaction that records an event. Clocks do not matter. An event
that is committed later than this may be found only when `[revoke]
sync_interval` has passed, and its tokens can pass until then. A higher value
costs a little more for each query. This has no effect unless `[revoke]
use_tree` is enabled.
"""
    ),
)

recount_interval = cfg.IntOpt(
    'recount_interval',
    default=600,
    min=0,
    help=utils.fmt(
        """
How often (in seconds) a worker process compares the number of its revocation
events with the number in the database, and loads all of them anew if these
differ. This is the longest time that an event deleted by an operator still
revokes tokens, and that a token can still pass whose event was committed an
hour or more after it was recorded. A lower value costs more counting; 0 turns
it off. This has no effect unless `[revoke] use_tree` is enabled.
"""
    ),
)

GROUP_NAME = 'revoke'
ALL_OPTS = [
    use_tree,
    max_events_in_memory,
    sync_interval,
    sync_overlap,
    recount_interval,
]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
