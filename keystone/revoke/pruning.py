# SPDX-License-Identifier: Apache-2.0

"""Automatic pruning after revocations."""

import collections
import math
import time

from oslo_log import log

from keystone.common import cache
from keystone.common.cache import shared
from keystone.common import counters
import keystone.conf
from keystone.revoke.backends import base
from keystone.revoke.backends import db_errors
from keystone.revoke.backends import prune
from keystone.revoke import background

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

# Small enough to hardly slow down a revocation: on MariaDB, where deleting is
# most expensive, this takes a sixth of the time of DELETE /v3/auth/tokens.
BATCH = 50

# Name in the counters, and key in the cache.
_NAME = 'revocation_prune'
_KEY = f'keystone.{_NAME}'

# Seconds. Memcached interprets a longer time as a date.
_LONGEST = 30 * 24 * 60 * 60


class AfterRevocation:
    """Deletes a batch of expired events after an event was recorded.

    One process of the cloud does this per ``[revoke] prune_interval``, in a
    separate transaction. Errors do not affect the caller, whose revocation is
    already committed. The caller does not wait either: with a distant
    database, this takes longer than the revocation.

    :param clock: callable, returns monotonic seconds
    """

    def __init__(self, clock=time.monotonic):
        self._clock = clock
        self._next = -math.inf
        self._since = None
        #: the thread of the last batch, or None
        self.thread = None
        #: {``batches``, ``deleted``, ``given_up``, ``failed``: number}
        self.counts = collections.Counter()

    def run(self, driver):
        """Delete a batch, if it is this process's turn; raises no errors.

        :param driver: the ``[revoke] driver``
        """
        interval = CONF.revoke.prune_interval
        if (
            interval
            and isinstance(driver, prune.Prune)
            and self.is_due(interval)
        ):
            self.thread = background.start(self._try, driver)
            if self.thread is None:
                self._try(driver)

    def is_due(self, interval):
        """Whether it is this process's turn, at most once per interval.

        If processes share a cache, one of them sets a key there that expires
        with the interval, in seconds. Without a shared cache, or while it
        fails, each has its own turns.
        """
        now = self._clock()
        if now < self._next:
            return False
        self._next = now + interval
        if _is_first(interval):
            return True
        counters.count(_NAME, 'skipped')
        return False

    def _try(self, driver):
        with counters.counting():
            try:
                self._prune(driver)
            except Exception as error:
                self._count('failed')
                LOG.warning(
                    'Failed to prune revocation events: %s',
                    db_errors.first_line(error),
                )

    def _prune(self, driver):
        batch = driver.prune_events(
            base.revoked_before_cutoff_time(), BATCH, self._since
        )
        # Continue there if there are more, or start from the beginning.
        self._since = batch.last if batch.found == BATCH else None
        self._count('batches')
        self._count('deleted', batch.deleted)
        if batch.given_up:
            self._count('given_up')
            LOG.debug('Did not prune revocation events: %s', batch.given_up)

    def _count(self, what, number=1):
        self.counts[what] += number
        counters.count(_NAME, what, number)


def _is_first(interval):
    if not CONF.cache.enabled:
        return True
    seconds = min(interval, _LONGEST)
    try:
        backend = cache.CACHE_INVALIDATION_REGION.actual_backend
        if CONF.cache.backend in shared.MEMCACHED:
            # The key is also missing if the server is down.
            return (
                bool(backend.client.add(_KEY, 'taken', seconds))
                or backend.client.get(_KEY) is None
            )
        if CONF.cache.backend in shared.REDIS:
            take = backend.writer_client.set
            return bool(take(_KEY, 'taken', nx=True, ex=seconds))
    except Exception as error:
        LOG.debug('Failed to acquire %s: %s', _KEY, type(error).__name__)
    return True
