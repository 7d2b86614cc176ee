# SPDX-License-Identifier: Apache-2.0

"""Options of the cache usage counters."""

from oslo_config import cfg

from keystone.conf import utils

enabled = cfg.BoolOpt(
    'enabled',
    default=False,
    help=utils.fmt(
        """
Count the lookups, misses and round trips of each cache region. The counters of
a request are logged at debug level when it completes, and are also sent to
`[cache_counters] statsd_host` if it is set. This adds a few microseconds to
each lookup. When disabled, there is no overhead. Restart the process to apply
a change.
"""
    ),
)

statsd_host = cfg.HostAddressOpt(
    'statsd_host',
    help=utils.fmt(
        """
Host of the statsd server that receives the counters, in one UDP packet per
request. If unset, or if `[cache_counters] enabled` is false, nothing is sent.
"""
    ),
)

statsd_port = cfg.PortOpt(
    'statsd_port',
    default=8125,
    help=utils.fmt(
        """
UDP port of the statsd server. This has no effect unless `[cache_counters]
statsd_host` is set.
"""
    ),
)


GROUP_NAME = __name__.split('.')[-1]
ALL_OPTS = [enabled, statsd_host, statsd_port]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
