# SPDX-License-Identifier: Apache-2.0

"""Options of counting how caches are used."""

from oslo_config import cfg

from keystone.conf import utils

enabled = cfg.BoolOpt(
    'enabled',
    default=False,
    help=utils.fmt(
        """
Count the look-ups, misses and round trips of each cache region. What a request
has used is logged when it is answered, at debug level, and sent to
`[cache_counters] statsd_host` if that is set. This costs some microseconds for
each look-up; when disabled it costs nothing. A change takes effect when the
process is restarted.
"""
    ),
)

statsd_host = cfg.HostAddressOpt(
    'statsd_host',
    help=utils.fmt(
        """
Host of the statsd server that counters are sent to, one UDP packet for each
request. Nothing is sent if this is not set, or if `[cache_counters] enabled`
is false.
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
