# SPDX-License-Identifier: Apache-2.0

"""Report the cache usage of each request."""

import functools

from oslo_log import log

from keystone.common import counters
import keystone.conf

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)


def report(application):
    """Count the cache usage of an application's requests, if enabled.

    :param application: WSGI application
    :returns: WSGI application; unchanged if counting is disabled
    """
    if not CONF.cache_counters.statsd_host:
        return application
    # A dependency of oslo.middleware.
    import statsd

    try:
        client = statsd.StatsClient(
            host=CONF.cache_counters.statsd_host,
            port=CONF.cache_counters.statsd_port,
            prefix='keystone.cache',
        )
    except OSError as error:
        # No reason not to start.
        LOG.error(
            'Failed to resolve [cache_counters] statsd_host: %s. Cache usage '
            'is not counted until the process is restarted.',
            error,
        )
        return application
    counters.report_to(functools.partial(_tell, client))

    def counted(environ, start_response):
        # An outer layer may already count this request.
        with counters.counting():
            return application(environ, start_response)

    return counted


def _tell(client, found):
    if not found:
        return
    if LOG.isEnabledFor(log.DEBUG):
        caches = {}
        for (cache, what), number in sorted(found.items()):
            caches.setdefault(cache, []).append(f'{what} {number}')
        LOG.debug(
            'Cache usage: %s',
            '; '.join(f'{name}: {", ".join(n)}' for name, n in caches.items()),
        )
    with client.pipeline() as packet:
        for (cache, what), number in found.items():
            name = f'{cache.replace(" ", "_")}.{what}'
            if what in counters.MEASURES:
                packet.gauge(name, number)
            else:
                packet.incr(name, number)
