# SPDX-License-Identifier: Apache-2.0

"""Options of the cache usage counters."""

from oslo_config import cfg

from keystone.conf import utils

statsd_host = cfg.HostAddressOpt(
    'statsd_host',
    help=utils.fmt(
        """
Host of the statsd server that receives the counters of each request, in one
UDP packet: the lookups, misses and round trips of each cache region, and
others. They are also logged at debug level. Counting adds a few microseconds
to each lookup. If unset, nothing is counted, and there is no overhead. Restart
the process to apply a change.
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
ALL_OPTS = [statsd_host, statsd_port]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
