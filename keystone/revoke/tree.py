# SPDX-License-Identifier: Apache-2.0

"""In-memory index of revocation events.

The cost of a check does not depend on the number of events. They are stored in
a trie. An edge is one (attribute, value) of an event; the attributes of an
event are in the order of :data:`.revoke_matching.CANDIDATES`, and attributes
that the event does not set have no level. A check only follows edges with
values of the token, so it takes a few lookups for each combination of
attributes in use, typically two to five.

Events with the same attributes and values share one node, with the latest
``issued_before`` and the latest ``revoked_at`` of them.

Threads
    One thread at a time may add and expire; any number of threads may check
    concurrently, without a lock. A check never iterates over anything that
    changes: it walks tuples, which the writer replaces as a whole, and looks
    up single keys in dicts, which is atomic for keys of built-in types. The
    writer only links complete nodes into the trie, and only removes expired
    ones. A check that starts after :meth:`RevocationTree.add` has returned
    therefore sees the event.

Memory
    Events that only name an audit id, by far the most common ones, are stored
    separately: see :mod:`keystone.revoke.audit_ids`. Another event without
    further edges below it is one integer in a dict and one slot of a list for
    its expiry: at most 250 bytes for an event with one attribute, including
    the id. Each further attribute takes a node with a dict, about 450 bytes.
"""

import collections
import datetime

from keystone.models import revoke_matching
from keystone.revoke import audit_ids

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


class _Node:
    """A node with edges below it; a leaf is just an end."""

    __slots__ = ('end', 'levels')

    def __init__(self, end):
        self.end = end
        # ((attribute, candidates, {value: node or end}), ...)
        self.levels = ()

    def _table(self, attribute):
        for name, _candidates, table in self.levels:
            if name == attribute:
                return table
        return None

    def get(self, attribute, value):
        """The node or end of an edge; ``_NO_END`` if there is no such edge."""
        return (self._table(attribute) or {}).get(value, _NO_END)

    def put(self, attribute, value, child):
        """Add or replace an edge."""
        table = self._table(attribute)
        if table is None:
            table = {}
            candidates = revoke_matching.CANDIDATES[attribute]
            self.levels = (*self.levels, (attribute, candidates, table))
        table[value] = child

    def remove(self, attribute, value):
        """Remove an edge, and its level if it was the last edge there."""
        table = self._table(attribute)
        del table[value]
        if not table:
            self.levels = tuple(
                level for level in self.levels if level[0] != attribute
            )


class RevocationTree:
    """All live revocation events, indexed for the check of one token.

    An event revokes a token when each attribute that the event sets matches
    the token, as :mod:`keystone.models.revoke_matching` defines it, and the
    token was issued in the second of ``issued_before`` or earlier. An event
    that sets no attribute revokes every token issued until then.
    """

    def __init__(self):
        self._root = _Node(_NO_END)
        # {attribute: AuditIds}
        self._ids = {
            name: audit_ids.AuditIds()
            for name in ('audit_chain_id', 'audit_id')
        }
        # The values of the events in the trie, by the attributes and by the
        # span of revoked_at, or an earlier one. A single value is without its
        # tuple, which takes more memory than the value.
        self._filed = collections.defaultdict(
            lambda: collections.defaultdict(list)
        )

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
        for edges in found:
            self._add(edges, issued_before, revoked_at)
        if not any(found):
            revoke_matching.warn_of_blank_event(event.issued_before)

    def expire(self, cutoff):
        """Remove events last revoked before a time, or slightly later.

        The cost depends on the number of removed events only.

        :param cutoff: naive UTC datetime
        """
        cutoff = _seconds(cutoff)
        for ids in self._ids.values():
            ids.expire(cutoff)
        for attributes, filed in self._filed.items():
            for entries in audit_ids.take_due(filed, cutoff):
                for entry in entries:
                    self._expire(attributes, entry, cutoff)

    def is_revoked(self, token):
        """Whether a live event revokes a token.

        :param token: a mapping with the values of a token, as
            ``revoke_model.build_token_values`` makes it; missing values are
            treated as None
        :returns: True if the token is revoked.
        :raises KeyError: if ``issued_at`` is missing.
        """
        issued_at = _seconds(token['issued_at'])
        for attribute, ids in self._ids.items():
            for value in revoke_matching.CANDIDATES[attribute](token):
                if ids.is_revoked(value, issued_at):
                    return True
        earliest = issued_at << _BITS
        root = self._root
        return root.end >= earliest or _search(root, token, earliest)

    def counts(self):
        """Count the distinct events by kind.

        :returns: a dict from the attributes of events, a tuple in the order
            of the levels, to the number of events with exactly these.
        """
        counts = collections.Counter()
        for attribute, ids in self._ids.items():
            counts[attribute,] = len(ids)
        for attributes, filed in self._filed.copy().items():
            counts[attributes] += sum(map(len, filed.copy().values()))
        return dict(+counts)

    def __len__(self):
        return sum(self.counts().values())

    def _add(self, edges, issued_before, revoked_at):
        if len(edges) == 1 and edges[0][0] in self._ids:
            attribute, value = edges[0]
            if self._ids[attribute].add(value, issued_before, revoked_at):
                return
        if self._hang(edges, issued_before << _BITS | revoked_at):
            attributes = tuple(attribute for attribute, _value in edges)
            values = tuple(value for _attribute, value in edges)
            entry = values[0] if len(values) == 1 else values
            span = revoked_at // audit_ids.SPAN
            self._filed[attributes][span].append(entry)

    def _expire(self, attributes, entry, cutoff):
        values = (entry,) if len(attributes) == 1 else entry
        edges = tuple(zip(attributes, values))
        revoked_at = _end_of(self._path(edges)[-1]) & _MASK
        if revoked_at < cutoff:
            self._cut(edges)
        else:
            span = revoked_at // audit_ids.SPAN
            self._filed[attributes][span].append(entry)

    def _hang(self, edges, end):
        """Set the end of a path; return whether the path is new."""
        node = self._root
        for edge in edges[:-1]:
            child = node.get(*edge)
            if type(child) is int:
                child = _Node(child)
                node.put(*edge, child)
            node = child
        child = node.get(*edges[-1]) if edges else node
        known = _end_of(child)
        if type(child) is int:
            node.put(*edges[-1], _later(known, end))
        else:
            child.end = _later(known, end)
        return known == _NO_END

    def _path(self, edges):
        """The nodes from the root to the node or end of an event."""
        nodes = [self._root]
        for edge in edges:
            nodes.append(nodes[-1].get(*edge))
        return nodes

    def _cut(self, edges):
        """Remove the end of a path, and the edges that only lead to it."""
        *nodes, last = self._path(edges)
        if type(last) is not int:
            last.end = _NO_END
            if last.levels:
                return
        for node, edge in zip(reversed(nodes), reversed(edges)):
            node.remove(*edge)
            if node.end != _NO_END or node.levels:
                return


def _end_of(child):
    return child if type(child) is int else child.end


def _later(one, other):
    """The later issued_before and the later revoked_at of two ends."""
    issued_before = max(one >> _BITS, other >> _BITS)
    revoked_at = max(one & _MASK, other & _MASK)
    return issued_before << _BITS | revoked_at


def _search(node, token, earliest):
    """Whether the edges of a token lead to an end that is late enough."""
    for _attribute, candidates, table in node.levels:
        for value in candidates(token):
            child = table.get(value)
            if child is None:
                continue
            if type(child) is int:
                if child >= earliest:
                    return True
            elif child.end >= earliest or _search(child, token, earliest):
                return True
    return False
