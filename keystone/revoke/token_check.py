# SPDX-License-Identifier: Apache-2.0

"""Check of tokens, with a replica of the revocation events if possible."""

import threading

from oslo_log import log

from keystone.common import counters
import keystone.conf
from keystone.models import revoke_model
from keystone.revoke.backends import incremental
from keystone.revoke import replica
from keystone.revoke import stamp
from keystone.revoke import table_copy

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)


class TokenCheck:
    """Checks tokens with the replica, or with the driver as a fallback.

    :param region: the cache region that each revocation invalidates
    """

    def __init__(self, region):
        self._stamp = stamp.SharedStamp(region)
        self._replica = None
        self._lock = threading.Lock()
        self._told = None

    def is_revoked(self, driver, token):
        """Whether a token is revoked.

        :param driver: the ``[revoke] driver``
        :param token: dictionary of
            :func:`~keystone.models.revoke_model.build_token_values`
        :returns: bool
        """
        events = self.replica(driver)
        if events is not None:
            return events.is_revoked(token)
        counters.count(table_copy.CACHE, 'queried')
        if isinstance(driver, incremental.IncrementalRead):
            matching = driver.read_matching(token)
        else:
            matching = driver.list_events(token=token)
        return revoke_model.is_revoked(matching, token)

    def written(self, driver, row_id, event):
        """Record a committed event, before the region id is changed.

        :param driver: the ``[revoke] driver``
        :param row_id: result of its ``revoke``: the id of the event's row, or
            None
        :param event: a :class:`~keystone.models.revoke_model.RevokeEvent`
        """
        events = self.replica(driver)
        if events is not None:
            row = row_id and stamp.Row(row_id, event.revoked_at)
            events.written(row)

    def replica(self, driver):
        """The replica of a driver's events.

        :returns: an :class:`~keystone.revoke.replica.EventReplica`; None if
            ``[revoke] max_events_in_memory`` is 0 or the driver does not
            support incremental reads
        """
        why = None
        if not CONF.revoke.max_events_in_memory:
            why = '[revoke] max_events_in_memory is 0'
        elif not isinstance(driver, incremental.IncrementalRead):
            why = 'the driver does not support incremental reads'
        if why and why != self._told:
            LOG.info('Querying revocation events for each token: %s', why)
        self._told = why
        if why:
            return None
        if not self._is_of(driver):
            with self._lock:
                if not self._is_of(driver):
                    self._replica = replica.EventReplica(driver, self._stamp)
        return self._replica

    def _is_of(self, driver):
        return self._replica is not None and self._replica.driver is driver
