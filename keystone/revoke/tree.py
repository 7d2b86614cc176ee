# SPDX-License-Identifier: Apache-2.0

"""In-memory index of revocation events.

The cost of a check does not depend on the number of events. The tree has two
levels: the attributes that an event sets, and their values. For each
combination of attributes in use, typically two to five, a check looks up the
values of the token.

Events with the same attributes and values are one, with the latest
``issued_before`` and the latest ``revoked_at`` of them.

Threads
    One thread at a time may add and expire; any number of threads may check
    concurrently, without a lock. A check never iterates over anything that
    changes: it walks the combinations, which the writer replaces as a whole,
    and looks up single keys in dicts, which is atomic for keys of built-in
    types. A check that starts after :meth:`RevocationTree.add` has returned
    therefore sees the event.

Memory
    An event is one integer in a dict and one slot of a list for its expiry: at
    most 250 bytes for an event with one attribute, including the id. Several
    attributes take a tuple and their ids in addition. Events that only name an
    audit id, by far the most common ones, take a fifth: see
    :mod:`keystone.revoke.audit_ids`.
"""

import collections
import datetime
import itertools

from keystone.models import revoke_matching
from keystone.revoke import audit_ids

# Seconds of events that expire together, with the latest of them.
SPAN = 1024

_EPOCH = datetime.datetime(1970, 1, 1)
_SECOND = datetime.timedelta(seconds=1)

# An end is issued_before << _BITS | revoked_at, in seconds, so that it is
# compared with a token in one operation.
_BITS = 40
_MASK = (1 << _BITS) - 1

# Earlier than any other.
_NO_END = -1 << 2 * _BITS


def _seconds(moment):
    return (moment - _EPOCH) // _SECOND


def _values_of(attributes):
    """A function from a token to the values of events that revoke it."""
    candidates = [revoke_matching.CANDIDATES[name] for name in attributes]
    if len(candidates) == 1:
        return candidates[0]
    return lambda token: itertools.product(
        *(
            [value for value in found(token) if value is not None]
            for found in candidates
        )
    )


class _Events:
    """The events that set the same attributes; times are seconds since 1970.

    Their values are a tuple, in the order of the attributes. A single value is
    without its tuple, which takes more memory than the value.
    """

    def __init__(self, attributes):
        self._values_of = _values_of(attributes)
        # {values: end}
        self._ends = {}
        # {span of revoked_at, or an earlier one: list of values}
        self.filed = collections.defaultdict(list)

    def __len__(self):
        return len(self._ends)

    def add(self, values, issued_before, revoked_at):
        known = self._ends.get(values)
        if known is None:
            self.filed[revoked_at // SPAN].append(values)
        else:
            issued_before = max(known >> _BITS, issued_before)
            revoked_at = max(known & _MASK, revoked_at)
        self._ends[values] = issued_before << _BITS | revoked_at

    def is_revoked(self, token, issued_at):
        earliest = issued_at << _BITS
        for values in self._values_of(token):
            if self._ends.get(values, _NO_END) >= earliest:
                return True
        return False

    def expire(self, cutoff):
        """Remove events last revoked before a time, or slightly later."""
        for span in [span for span in self.filed if span < cutoff // SPAN]:
            for values in self.filed.pop(span):
                revoked_at = self._ends.get(values) & _MASK
                if revoked_at < cutoff:
                    del self._ends[values]
                else:
                    self.filed[revoked_at // SPAN].append(values)


class _AuditIds(_Events):
    """The events that only name an audit id, with its key as the value."""

    def __init__(self, attributes):
        super().__init__(attributes)
        audit_ids_of = self._values_of
        self._values_of = lambda token: [
            audit_ids.key_of(value)
            for value in audit_ids_of(token)
            if value is not None
        ]
        self._ends = audit_ids.Ends()
        self.filed = collections.defaultdict(audit_ids.Keys)

    def add(self, value, issued_before, revoked_at):
        super().add(audit_ids.key_of(value), issued_before, revoked_at)


_KINDS = {('audit_chain_id',): _AuditIds, ('audit_id',): _AuditIds}


class RevocationTree:
    """All live revocation events, indexed for the check of one token.

    An event revokes a token when each attribute that the event sets matches
    the token, as :mod:`keystone.models.revoke_matching` defines it, and the
    token was issued in the second of ``issued_before`` or earlier. An event
    that sets no attribute revokes every token issued until then.
    """

    def __init__(self):
        # {attributes: the events that set these}
        self._events = {}

    def add(self, event):
        """Add an event; adding it again has no effect.

        :param event: an object with the columns of ``revocation_event`` as
            attributes: ids are str or None, ``expires_at`` is a naive UTC
            datetime or None, ``issued_before`` and ``revoked_at`` are naive
            UTC datetimes
        :raises AttributeError: if an attribute is missing; the tree stays as
            it was
        """
        found = revoke_matching.spellings(event)
        issued_before = _seconds(event.issued_before)
        revoked_at = max(_seconds(event.revoked_at), 0)
        for named in found:
            attributes, values = tuple(named), tuple(named.values())
            if len(values) == 1:
                (values,) = values
            if attributes not in self._events:
                kind = _KINDS.get(attributes, _Events)
                self._events = {**self._events, attributes: kind(attributes)}
            self._events[attributes].add(values, issued_before, revoked_at)
        if not any(found):
            revoke_matching.warn_of_blank_event(event.issued_before)

    def expire(self, cutoff):
        """Remove events last revoked before a time, or slightly later.

        The cost depends on the number of removed events only.

        :param cutoff: naive UTC datetime
        """
        cutoff = _seconds(cutoff)
        for events in self._events.values():
            events.expire(cutoff)
        self._events = {
            attributes: events
            for attributes, events in self._events.items()
            if events
        }

    def is_revoked(self, token):
        """Whether a live event revokes a token.

        :param token: a mapping with the values of a token, as
            ``revoke_model.build_token_values`` makes it; missing values are
            treated as None
        :returns: True if the token is revoked.
        :raises KeyError: if ``issued_at`` is missing.
        """
        issued_at = _seconds(token['issued_at'])
        return any(
            events.is_revoked(token, issued_at)
            for events in self._events.values()
        )

    def counts(self):
        """Count the distinct events by kind.

        :returns: a dict from the attributes of events, a tuple in the order
            of :data:`.revoke_matching.CANDIDATES`, to the number of events
            with exactly these.
        """
        return {
            attributes: len(events)
            for attributes, events in self._events.items()
        }

    def __len__(self):
        return sum(self.counts().values())
