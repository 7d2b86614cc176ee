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

"""Callers whose tokens this process has validated for an earlier request.

A service comes with the same token for minutes. What its token was found to be
holds for the next request by the same conditions as an answer of the
:mod:`keystone.token.validation_cache`, policy aside, which has no part in it.
"""

import copy
import datetime
import functools
import itertools
import logging
import pickle
import secrets

from oslo_utils import timeutils

from keystone.common import after_fork
from keystone.common.cache import facts
from keystone.common.cache import stamps
from keystone.common import rendered_token
from keystone.common import token_body
import keystone.conf
from keystone.token.validation_cache import counts
from keystone.token.validation_cache import entry as entries
from keystone.token.validation_cache import inquiry
from keystone.token.validation_cache import policy_state
from keystone.token.validation_cache import recording
from keystone.token.validation_cache import store

CONF = keystone.conf.CONF

LOG = logging.getLogger(__name__)

# Bytes of one. A token with more roles than fit is validated each time.
_LARGEST = 16 * 1024

_NO_POLICY = policy_state.State(None, None)


class _Counts(counts.Counts):
    cache = 'known callers'


class _Caller:
    """A validated token and what the API shows of it, without the token.

    Each request gets objects of its own.

    :param rendered: a :class:`~keystone.common.rendered_token.RenderedToken`,
        without its catalog
    """

    __slots__ = ('_pickled', 'pieces')

    # It shares nothing with others in its store.
    shared_size = 0

    def __init__(self, rendered):
        self.pieces = ()
        # Others may hold the same model.
        model = copy.copy(rendered.model)
        model.id = None
        pair = (model, rendered['token'].without_catalog())
        self._pickled = pickle.dumps(pair, pickle.HIGHEST_PROTOCOL)

    @property
    def own_size(self):
        return len(self._pickled)

    def rendered(self, token):
        """The rendered token, as it was.

        :param token: the token, as the client sent it
        """
        model, values = pickle.loads(self._pickled)
        model.id = token
        return rendered_token.RenderedToken(
            model, lambda model: {'token': token_body.TokenBody(model, values)}
        )


class KnownCallers:
    """The callers that one process knows.

    Any number of threads may use it. It starts afresh in a forked process,
    with a key of its own.
    """

    def __init__(self):
        self._forget()
        after_fork.call(self._forget)

    def _forget(self):
        #: How often: ``hit``, ``kept``, ``evicted``; ``miss`` and
        #: ``not_kept`` by reason, as in ``miss: changed``.
        self.counts = _Counts()
        self._secret = secrets.token_bytes(32)
        self._number = itertools.count()
        self._store = store.Store(self.counts)

    def look(self, token):
        """Look at what the validity of a token rests on.

        :param token: the token, as the client sent it
        :returns: a :class:`~keystone.token.validation_cache.entry.Look`; None
            if there is nothing to look at
        """
        if not CONF.token.known_callers:
            return None
        began = next(self._number)
        seen = stamps.read()
        if seen is None:
            return None
        key = inquiry.digest(token, self._secret)
        return entries.Look(began, key, timeutils.utcnow(), seen, _NO_POLICY)

    def find(self, look, token):
        """Find a caller.

        :param look: what :meth:`look` returned
        :returns: a :class:`~keystone.common.rendered_token.RenderedToken`;
            None if the token has to be validated
        """
        entry = self._store.get(look.key)
        flaw = 'unknown' if entry is None else entry.flaw(look)
        if flaw is not None:
            self.counts.note(f'miss: {flaw}')
            return None
        self.counts.note('hit')
        trace = facts.current()
        if trace is not None:
            trace.add(entry.facts, _timestamp(entry.until))
        return entry.answer.rendered(token)

    def keep(self, look, rendered, trace):
        """Keep a caller whose token was just validated, if that may be.

        :param look: what :meth:`look` returned before
        :param rendered: a
            :class:`~keystone.common.rendered_token.RenderedToken`
        :param trace: the :class:`~keystone.common.cache.facts.Trace` in which
            it was
        """
        try:
            seconds = recording.demand_followed(rendered.model)
            caller = _Caller(rendered)
            if caller.own_size > _LARGEST:
                raise recording.NotKept('size')
            shown = [(rendered.model, rendered['token'])]
            entry = recording.entry(
                look, _NO_POLICY, caller, shown, seconds, trace
            )
            most = CONF.token.known_callers
            self._store.put(look.key, entry, most, most * _LARGEST)
        except recording.NotKept as reason:
            self.counts.note(f'not_kept: {reason}')
            return
        except Exception as error:
            self.counts.note('not_kept: error')
            # Its text may name what was validated.
            LOG.warning('Cannot keep a caller: %s', type(error).__name__)
            return
        self.counts.note('kept')

    def clear(self):
        """Forget all callers."""
        self._store.clear()

    def status(self):
        """Tell what it holds and how it is used.

        :returns: dict of numbers: the counts, and ``entries`` and ``bytes``
        """
        return {**self.counts, **self._store.status()}


CALLERS = KnownCallers()


def _timestamp(moment):
    return moment.replace(tzinfo=datetime.timezone.utc).timestamp()


def remembered(fetch):
    """Decorate the method of a middleware that validates a caller's token.

    :param fetch: method that takes a token, and returns a
        :class:`~keystone.common.rendered_token.RenderedToken`
    """

    @functools.wraps(fetch)
    def wrapper(self, token, **kwargs):
        look = CALLERS.look(token)
        if look is None:
            return fetch(self, token, **kwargs)
        rendered = CALLERS.find(look, token)
        if rendered is None:
            with facts.tracing() as trace:
                rendered = fetch(self, token, **kwargs)
            CALLERS.keep(look, rendered, trace)
        return rendered

    return wrapper
