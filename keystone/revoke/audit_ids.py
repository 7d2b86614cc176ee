# SPDX-License-Identifier: Apache-2.0

"""Compact storage of revoked audit ids, of tokens or of chains.

Nearly all events only name an audit id, and anyone with a token can create
more. Here, an event is a record of 26 bytes: a key of 16 bytes, and an int.
Records with the same first bits are concatenated in one bytes object, which is
replaced as a whole: any number of threads may search while one thread changes
it.
"""

import hashlib

# Chosen for pieces of a few hundred bytes to a few kilobytes.
_PIECES = 4096

# Bytes of a key and of an int.
_KEY = 16
_END = 10


def key_of(value):
    """The key of an audit id.

    A hash, since an event may name anything, not only an id that Keystone has
    generated. A key is as random as such an id, so it is not found elsewhere
    in the records either.
    """
    return hashlib.sha256(value.encode()).digest()[:_KEY]


def _number(key):
    return int.from_bytes(key[:2], 'big') % _PIECES


class Ends:
    """The part of a dict that is needed of one from keys to ints."""

    def __init__(self):
        self._pieces = [b''] * _PIECES
        self._count = 0

    def __len__(self):
        return self._count

    def get(self, key, default=None):
        piece = self._pieces[_number(key)]
        at = piece.find(key)
        if at < 0:
            return default
        end = piece[at + _KEY : at + _KEY + _END]
        return int.from_bytes(end, 'big', signed=True)

    def __setitem__(self, key, end):
        self._replace(key, key + end.to_bytes(_END, 'big', signed=True))

    def __delitem__(self, key):
        self._replace(key, b'')

    def _replace(self, key, record):
        number = _number(key)
        piece = self._pieces[number]
        before, found, rest = piece.partition(key)
        self._pieces[number] = before + record + rest[_END:]
        self._count += bool(record) - bool(found)


class Keys:
    """A list of keys."""

    def __init__(self):
        self._keys = bytearray()

    def append(self, key):
        self._keys += key

    def __iter__(self):
        for at in range(0, len(self._keys), _KEY):
            yield bytes(self._keys[at : at + _KEY])
