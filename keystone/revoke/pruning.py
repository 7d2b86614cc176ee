# SPDX-License-Identifier: Apache-2.0

"""Automatic pruning after revocations."""

import collections

from oslo_log import log

from keystone.common.cache import counters
import keystone.conf
from keystone.revoke.backends import base
from keystone.revoke.backends import db_errors
from keystone.revoke.backends import prune
from keystone.revoke import background
from keystone.revoke import interval_lock

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

# Small enough to hardly slow down a revocation: on MariaDB, where deleting is
# most expensive, this takes a sixth of the time of DELETE /v3/auth/tokens.
BATCH = 50

# Name of the interval lock, and in the counters.
_NAME = 'revocation_prune'


class AfterRevocation:
    """Deletes a batch of expired events after an event was recorded.

    One process of the cloud does this per ``[revoke] prune_interval``, in a
    separate transaction. Errors do not affect the caller, whose revocation is
    already committed. The caller does not wait either: with a distant
    database, this takes longer than the revocation.
    """

    def __init__(self):
        self._lock = interval_lock.IntervalLock(_NAME)
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
            and self._lock.acquire(interval)
        ):
            self.thread = background.start(self._try, driver)
            if self.thread is None:
                self._try(driver)

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
