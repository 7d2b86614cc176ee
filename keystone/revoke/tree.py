# SPDX-License-Identifier: Apache-2.0

"""In-memory index of revocation events.

The cost of a check does not depend on the number of events. They are stored in
a trie. An edge is one (attribute, value) of an event; the attributes of an
event are in the order of ``ATTRIBUTES``, and attributes that the event does
not set have no level. A check only follows edges with values of the token, so
it takes a few lookups for each combination of attributes in use, typically two
to five.

Events with the same attributes and values share one node, with the latest
``issued_before`` and the latest ``revoked_at`` of them.

Threads
    One thread at a time may add and expire; any number of threads may check
    concurrently, without a lock. A check never iterates over anything that
    changes: it walks tuples, which the writer replaces as a whole, and looks
    up single keys in dicts and sets, which is atomic for keys of built-in
    types. The writer only links complete nodes into the trie, and only removes
    expired ones. A check that starts after :meth:`RevocationTree.add` has
    returned therefore sees the event.

Memory
    Events that only name an audit id, by far the most common ones, are stored
    separately: see :mod:`keystone.revoke.audit_ids`. Another event without
    further edges below it is one integer in a dict and one slot of a list for
    its expiry: at most 250 bytes for an event with one attribute, including
    the id. Each further attribute takes a node with a dict, about 450 bytes.
"""

import datetime
import heapq

from keystone.models import revoke_matching
from keystone.revoke import audit_ids

# The attributes of events, in the order of the levels.
ATTRIBUTES = tuple(revoke_matching.CANDIDATES)

# The last one: a token has several.
_ROLE = 'role_id'

# Times are relative to the earliest datetime, so that none is negative and
# each takes less than 60 bits, even in microseconds.
_EPOCH = datetime.datetime.min
_MICROSECOND = datetime.timedelta(microseconds=1)
_SECOND = datetime.timedelta(seconds=1)
_PER_SECOND = _SECOND // _MICROSECOND
_UNIX = (datetime.datetime(1970, 1, 1) - _EPOCH) // _SECOND
_BITS = 60
_MASK = (1 << _BITS) - 1

# An end is (issued_before in seconds) << _BITS | (revoked_at in microseconds),
# so that it is compared with a token in one operation.
_NO_END = -1

# Seconds of events whose expiry is kept in one list, which is sorted into
# single seconds when it is due. A longer span takes less memory if revocations
# are rare, but makes longer lists to sort.
_SPAN = 1024

# Nearly all lookups are misses, which take three or four CPU cache misses in a
# large dict and one in a set: from this many edges on, a set is checked first.
_LARGE = 65536


def _since_epoch(when, unit):
    return (when - _EPOCH) // unit


class _Node:
    """A node with edges below it; a leaf is just an end."""

    __slots__ = ('end', 'levels', 'roles', 'roles_end')

    def __init__(self, end):
        self.end = end
        # ((attribute, candidates, members, table), ...): table leads from a
        # value to a node or an end, members tells which values it has.
        self.levels = ()
        # {role id: end}, or None
        self.roles = None
        # No end in roles is later than this.
        self.roles_end = _NO_END

    def _level(self, attribute):
        for level in self.levels:
            if level[0] == attribute:
                return level
        return None

    def get(self, attribute, value):
        """The node or end of an edge; None if there is no such edge."""
        if attribute == _ROLE:
            return self.roles.get(value) if self.roles else None
        level = self._level(attribute)
        return level[-1].get(value) if level else None

    def put(self, attribute, value, child):
        """Add or replace an edge."""
        if attribute == _ROLE:
            if self.roles is None:
                self.roles = {}
            self.roles[value] = child
            self.roles_end = max(self.roles_end, child)
            return
        level = self._level(attribute)
        if level is None:
            candidates = revoke_matching.CANDIDATES[attribute]
            table = {}
            level = (attribute, candidates, table, table)
            self.levels = (*self.levels, level)
        _attribute, candidates, members, table = level
        table[value] = child
        if members is not table:
            members.add(value)
        elif len(table) > _LARGE:
            large = (attribute, candidates, set(table), table)
            self.levels = tuple(
                large if each is level else each for each in self.levels
            )

    def remove(self, attribute, value):
        """Remove an edge, and its level if it was the last edge there."""
        if attribute == _ROLE:
            del self.roles[value]
            if not self.roles:
                self.roles = None
                self.roles_end = _NO_END
            return
        level = self._level(attribute)
        _attribute, _candidates, members, table = level
        if members is not table:
            members.remove(value)
        del table[value]
        if not table:
            self.levels = tuple(
                each for each in self.levels if each is not level
            )

    def has_edges(self):
        return bool(self.levels or self.roles)


class _Calendar:
    """Entries by the second in which they are due.

    Each is filed under its second or an earlier one. The cost of filing and
    taking does not depend on the number of entries.
    """

    __slots__ = ('_buckets', '_starts', '_sorted_until')

    def __init__(self):
        # {second: [entry, ...]}
        self._buckets = {}
        # The seconds that have a bucket, as a heap.
        self._starts = []
        self._sorted_until = 0

    def file(self, entry, second):
        """Keep an entry until its second is taken."""
        if second >= self._sorted_until:
            second -= second % _SPAN
        bucket = self._buckets.get(second)
        if bucket is None:
            self._buckets[second] = [entry]
            heapq.heappush(self._starts, second)
        else:
            bucket.append(entry)

    def take(self, second):
        """Remove and return the entries filed up to a second.

        Those that are due later must be filed again, which files them under
        their own second, so that none is taken early repeatedly.
        """
        self._sorted_until = second - second % _SPAN + _SPAN
        taken = []
        while self._starts and self._starts[0] <= second:
            taken += self._buckets.pop(heapq.heappop(self._starts))
        return taken


class _Kind:
    """The events that set the same attributes."""

    __slots__ = ('attributes', 'calendar', 'count')

    def __init__(self, attributes):
        self.attributes = attributes
        self.calendar = _Calendar()
        self.count = 0

    def entry(self, edges):
        """The values of an event as one compact object."""
        values = tuple(value for _attribute, value in edges)
        return values[0] if len(values) == 1 else values

    def edges(self, entry):
        """The edges of an event from its entry."""
        values = (entry,) if len(self.attributes) == 1 else entry
        return tuple(zip(self.attributes, values, strict=True))


class RevocationTree:
    """All live revocation events, indexed for the check of one token.

    An event revokes a token when each attribute that the event sets matches
    the token, as :mod:`keystone.models.revoke_matching` defines it, and the
    token was issued in the second of ``issued_before`` or earlier. An event
    that sets no attribute revokes every token issued until then.
    """

    def __init__(self):
        self._root = _Node(_NO_END)
        # {attributes: _Kind}
        self._kinds = {}
        # {attribute: AuditIds}
        self._ids = {
            name: audit_ids.AuditIds()
            for name in ('audit_chain_id', 'audit_id')
        }

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
        issued_before = _since_epoch(event.issued_before, _SECOND)
        revoked_at = _since_epoch(event.revoked_at, _MICROSECOND)
        for edges in found:
            self._add(edges, issued_before, revoked_at)
        if not any(found):
            revoke_matching.warn_of_blank_event(event.issued_before)

    def _add(self, edges, issued_before, revoked_at):
        if len(edges) == 1 and edges[0][0] in self._ids:
            attribute, value = edges[0]
            # A fraction of a second is rounded up: it expires later.
            recorded = -(-revoked_at // _PER_SECOND) - _UNIX
            if self._ids[attribute].add(
                value, issued_before - _UNIX, recorded
            ):
                return
        if not self._hang(edges, issued_before << _BITS | revoked_at):
            return

        attributes = tuple(attribute for attribute, _value in edges)
        kind = self._kinds.get(attributes)
        if kind is None:
            kind = self._kinds[attributes] = _Kind(attributes)
        kind.count += 1
        kind.calendar.file(kind.entry(edges), revoked_at // _PER_SECOND)

    def expire(self, cutoff):
        """Remove the events that were last revoked before a time.

        The cost depends on the number of removed events only.

        :param cutoff: naive UTC datetime
        :returns: number of distinct events removed.
        """
        cutoff = _since_epoch(cutoff, _MICROSECOND)
        forgotten = sum(
            ids.expire(cutoff // _PER_SECOND - _UNIX)
            for ids in self._ids.values()
        )
        for kind in list(self._kinds.values()):
            for entry in kind.calendar.take((cutoff - 1) // _PER_SECOND):
                edges = kind.edges(entry)
                revoked_at = self._end(edges) & _MASK
                if revoked_at < cutoff:
                    self._cut(edges)
                    kind.count -= 1
                    forgotten += 1
                else:
                    kind.calendar.file(entry, revoked_at // _PER_SECOND)
            if not kind.count:
                del self._kinds[kind.attributes]
        return forgotten

    def is_revoked(self, token):
        """Whether a live event revokes a token.

        :param token: a mapping with the values of a token, as
            ``revoke_model.build_token_values`` makes it: ``issued_at`` and
            ``expires_at`` as datetimes in UTC without time zone; the ids
            ``audit_id``, ``audit_chain_id`` (the audit id of the parent),
            ``user_id``, ``trustor_id``, ``trustee_id``,
            ``identity_domain_id`` (the domain of the user), ``project_id``,
            ``assignment_domain_id`` (the domain of the project, or the one
            that is the scope), ``trust_id``, ``consumer_id`` and
            ``access_token_id``; and ``roles``, the ids of the effective
            roles. Missing values are treated as None.
        :returns: True if the token is revoked.
        :raises KeyError: if ``issued_at`` is missing.
        """
        issued_at = _since_epoch(token['issued_at'], _SECOND)
        for attribute, ids in self._ids.items():
            for value in revoke_matching.CANDIDATES[attribute](token):
                if ids.is_revoked(value, issued_at - _UNIX):
                    return True
        earliest = issued_at << _BITS
        root = self._root
        return root.end >= earliest or _search(root, token, earliest)

    def counts(self):
        """Count the distinct events by kind.

        :returns: a dict from the attributes of events, a tuple in the order
            of the levels, to the number of events with exactly these.
        """
        counts = {
            (attribute,): len(ids)
            for attribute, ids in self._ids.items()
            if ids
        }
        for attributes, kind in self._kinds.copy().items():
            counts[attributes] = counts.get(attributes, 0) + kind.count
        return counts

    def __len__(self):
        return sum(self.counts().values())

    def __repr__(self):
        kinds = ', '.join(
            f'{" + ".join(attributes) or "no attribute"}: {count}'
            for attributes, count in self.counts().items()
        )
        return f'<{type(self).__name__} {kinds or "empty"}>'

    def _hang(self, edges, end):
        """Set the end of a path; return whether the path is new."""
        node = self._root
        if not edges:
            known = node.end
            node.end = _later(known, end)
            return known == _NO_END

        for attribute, value in edges[:-1]:
            child = node.get(attribute, value)
            if child is None or type(child) is int:
                child = _Node(_NO_END if child is None else child)
                node.put(attribute, value, child)
            node = child

        attribute, value = edges[-1]
        child = node.get(attribute, value)
        if child is None or type(child) is int:
            known = _NO_END if child is None else child
            node.put(attribute, value, _later(known, end))
        else:
            known = child.end
            child.end = _later(known, end)
        return known == _NO_END

    def _end(self, edges):
        """The end at the path of an event."""
        child = self._root
        for attribute, value in edges:
            child = child.get(attribute, value)
        return child if type(child) is int else child.end

    def _cut(self, edges):
        """Remove the end of a path, and the edges that only lead to it."""
        nodes = [self._root]
        for attribute, value in edges:
            nodes.append(nodes[-1].get(attribute, value))

        last = nodes.pop()
        if type(last) is not int:
            last.end = _NO_END
            if last.has_edges():
                return
        for attribute, value in reversed(edges):
            node = nodes.pop()
            node.remove(attribute, value)
            if node.end != _NO_END or node.has_edges():
                return


def _later(one, other):
    """The later issued_before and the later revoked_at of two ends."""
    if one == _NO_END:
        return other
    issued_before = max(one >> _BITS, other >> _BITS)
    revoked_at = max(one & _MASK, other & _MASK)
    return issued_before << _BITS | revoked_at


def _search(node, token, earliest):
    """Whether the edges of a token lead to an end that is late enough."""
    for _attribute, candidates, members, table in node.levels:
        for value in candidates(token):
            if value not in members:
                continue
            child = table.get(value)
            if child is None:
                # Expired since the check of members.
                continue
            if type(child) is int:
                if child >= earliest:
                    return True
            elif child.end >= earliest or _search(child, token, earliest):
                return True
    ends = node.roles
    if ends is None or node.roles_end < earliest:
        return False
    return any(
        ends.get(role, _NO_END) >= earliest
        for role in token.get('roles') or ()
    )
