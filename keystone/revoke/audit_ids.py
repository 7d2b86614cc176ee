# SPDX-License-Identifier: Apache-2.0

"""Compact storage of revoked audit ids, of tokens or of chains.

Nearly all events only name an audit id, and anyone with a token can create
more. An audit id is 16 random bytes. Here, an event is a record of 24 bytes:
the audit id, and the latest ``issued_before`` and ``revoked_at`` in whole
seconds. Records with the same first bits are concatenated in one bytes object,
which is replaced as a whole: any number of threads may search while one thread
adds and expires.
"""

import base64
import collections
import struct

# Chosen for pieces of a few hundred bytes to a few kilobytes.
_PIECES = 4096

_RECORD = struct.Struct('>16sII')
_LATEST = (1 << 32) - 1

#: Seconds of events that expire together, with the latest of them.
SPAN = 1024


def take_due(filed, cutoff):
    """Remove what is filed under the spans before a time, and return it.

    :param filed: dict with the numbers of spans as keys
    :param cutoff: seconds since 1970
    :returns: list of the values
    """
    due = [span for span in filed if span < cutoff // SPAN]
    return [filed.pop(span) for span in due]


def _packed(value):
    """The bytes of an audit id; None if it is not one of Keystone's."""
    try:
        raw = base64.urlsafe_b64decode(value + '==')
    except ValueError:
        return None
    if len(raw) != 16 or base64.urlsafe_b64encode(raw)[:22] != value.encode():
        return None
    return raw


def _piece(raw):
    return int.from_bytes(raw[:2], 'big') % _PIECES


def _find(piece, raw):
    """Offset of a record, or -1."""
    at = piece.find(raw)
    while at > 0 and at % _RECORD.size:
        # A match across two records.
        at = piece.find(raw, at + 1)
    return at


class AuditIds:
    """Events that only name an audit id; times are seconds since 1970."""

    def __init__(self):
        # {number: records}
        self._pieces = {}
        # {span of revoked_at, or an earlier one: audit ids}
        self._filed = collections.defaultdict(bytearray)
        self._count = 0

    def __len__(self):
        return self._count

    def add(self, value, issued_before, revoked_at):
        """Add an event.

        :returns: False if it cannot be stored here
        """
        raw = _packed(value)
        if raw is None or not (
            0 <= issued_before <= _LATEST and 0 <= revoked_at <= _LATEST
        ):
            return False
        number = _piece(raw)
        piece = self._pieces.get(number, b'')
        at = _find(piece, raw)
        if at < 0:
            at = len(piece)
            self._count += 1
            self._filed[revoked_at // SPAN] += raw
        else:
            _raw, issued, revoked = _RECORD.unpack_from(piece, at)
            issued_before = max(issued, issued_before)
            revoked_at = max(revoked, revoked_at)
        record = _RECORD.pack(raw, issued_before, revoked_at)
        self._pieces[number] = piece[:at] + record + piece[at + _RECORD.size :]
        return True

    def is_revoked(self, value, issued_at):
        """Whether an event revokes an audit id.

        :param value: an audit id, or None
        :param issued_at: when the token was issued
        """
        raw = value and self._count and _packed(value)
        if not raw:
            return False
        piece = self._pieces.get(_piece(raw), b'')
        at = _find(piece, raw)
        return at >= 0 and _RECORD.unpack_from(piece, at)[1] >= issued_at

    def expire(self, cutoff):
        """Remove events last revoked before a time, or slightly later."""
        for filed in take_due(self._filed, cutoff):
            for start in range(0, len(filed), 16):
                self._expire(bytes(filed[start : start + 16]), cutoff)

    def _expire(self, raw, cutoff):
        number = _piece(raw)
        piece = self._pieces[number]
        at = _find(piece, raw)
        revoked_at = _RECORD.unpack_from(piece, at)[2]
        if revoked_at >= cutoff:
            self._filed[revoked_at // SPAN] += raw
            return
        self._pieces[number] = piece[:at] + piece[at + _RECORD.size :]
        self._count -= 1
