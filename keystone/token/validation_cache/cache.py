# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The validation cache of one process."""

import itertools
import logging
import secrets

from oslo_utils import timeutils

from keystone.common import after_fork
from keystone.common.cache import counters
from keystone.common.cache import current_stamps
import keystone.conf
from keystone.token.validation_cache import counts
from keystone.token.validation_cache import entry as entries
from keystone.token.validation_cache import flights
from keystone.token.validation_cache import inquiry
from keystone.token.validation_cache import policy_state
from keystone.token.validation_cache import recording
from keystone.token.validation_cache import store

CONF = keystone.conf.CONF

# Plain logging: an adapter costs calls at each request.
LOG = logging.getLogger('keystone')

# Seconds for which a request waits for another one that asks the same.
_LONGEST_WAIT = 2


class ValidationCache:
    """Answers to validations, and what it takes to give them again.

    Any number of threads may use it. It starts afresh in a forked process,
    with a key of its own.
    """

    def __init__(self):
        self._policy = policy_state.PolicyState()
        self._forget()
        after_fork.call(self._forget)

    def _forget(self):
        #: How often: ``hit``; ``bypass``, ``miss`` and ``not_kept`` by
        #: reason, as in ``miss: changed``; ``kept``, ``evicted``, ``waited``.
        self.counts = counts.Counts()
        self._secret = secrets.token_bytes(32)
        self._number = itertools.count()
        self._store = store.Store(self.counts)
        self._flights = flights.Flights()

    def look(self, environ):
        """Look at all that an answer would rest on.

        :param environ: WSGI environment of a request for
            :data:`~keystone.token.validation_cache.inquiry.PATH`
        :returns: a :class:`~keystone.token.validation_cache.entry.Look`; None
            if the request is not for the cache
        """
        reason = inquiry.bypass(environ)
        if reason is None and LOG.isEnabledFor(logging.DEBUG):
            reason = 'debug'
        if reason is None:
            began = next(self._number)
            seen = current_stamps.read()
            if seen is None:
                reason = 'stamps'
        if reason is None:
            policy = self._policy.read()
            if policy is None:
                reason = 'policy'
        if reason is not None:
            self.counts.note(f'bypass: {reason}')
            return None
        key = inquiry.key(environ, self._secret)
        return entries.Look(began, key, timeutils.utcnow(), seen, policy)

    def find(self, look):
        """Find an answer that holds.

        :param look: a :class:`~keystone.token.validation_cache.entry.Look`
        :returns: an :class:`~keystone.token.validation_cache.answer.Answer`,
            or None
        """
        entry = self._store.get(look.key)
        if entry is None:
            self.counts.note('miss: unknown')
            return None
        flaw = entry.flaw(look)
        if flaw == 'events':
            flaw = entry.flaw(look, self._sync(entry.replica, look))
        if flaw is None:
            self.counts.note('hit')
            return entry.answer
        self.counts.note(f'miss: {flaw}')
        # A request that came in earlier says nothing of a later answer.
        if look.began > entry.began and flaw not in ('clock', 'events'):
            self._store.drop(look.key, entry)
        return None

    def _sync(self, replica, look):
        """Have the worker read what was revoked since; None if it cannot."""
        try:
            events = replica.sync(look.stamps.revocation)
        except Exception:
            # The usual way tells the client.
            return None
        self.counts.note('synced')
        return events

    def lead(self, look):
        """Begin to compute an answer, or wait for one who does.

        :param look: a :class:`~keystone.token.validation_cache.entry.Look`
        :returns: True if the caller is the first, and has to call
            :meth:`done`; False after the other's answer
        """
        landed = self._flights.join(look.key)
        if landed is None:
            return True
        self.counts.note('waited')
        landed.wait(_LONGEST_WAIT)
        return False

    def done(self, look):
        """Let those go on who wait for the answer to a request."""
        self._flights.land(look.key)

    def keep(self, look, environ, recorder, body, trace):
        """Keep an answer, if it may be given again.

        :param look: the :class:`~keystone.token.validation_cache.entry.Look`
            before it was made
        :param environ: WSGI environment of the request
        :param recorder: its
            :class:`~keystone.token.validation_cache.recorder.Recorder`
        :param body: bytes
        :param trace: the :class:`~keystone.common.cache.facts.Trace` of the
            request
        """
        try:
            entry = recording.make(
                look, environ, recorder, body, self._policy, trace
            )
        except recording.NotKept as reason:
            self.counts.note(f'not_kept: {reason}')
            return
        except Exception as error:
            self.counts.note('not_kept: error')
            # Its text may name what was looked up: a token, for one.
            LOG.warning(
                'Cannot keep the answer to a validation: %s',
                type(error).__name__,
            )
            return
        self.counts.note('kept')
        self._store.put(
            look.key,
            entry,
            CONF.token.validation_cache_entries,
            CONF.token.validation_cache_size,
        )
        for what, value in self._store.status().items():
            counters.measure(counts.CACHE, what, value)

    def clear(self):
        """Forget all answers."""
        self._store.clear()

    def status(self):
        """Tell what it holds and how it is used.

        :returns: dict of numbers: the counts, and ``entries``, ``bytes`` and
            ``shared`` parts
        """
        return {**self.counts, **self._store.status()}
