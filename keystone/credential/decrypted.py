# SPDX-License-Identifier: Apache-2.0

"""What credentials hold, decrypted once and kept for a while.

The caches that processes share hold credentials encrypted. Decrypting one
reads every key file anew. What comes out is kept in this process alone, found
by what went in: a credential that has changed is another one here.
"""

import collections
import copy
import os
import time

import keystone.conf

CONF = keystone.conf.CONF

# Characters of an encrypted blob; that of an access key and its secret has
# some 400. What is longer, such as a certificate, is nobody's hot path.
_LONGEST = 2048

_STORED = frozenset(('encrypted_blob', 'key_hash'))

_Entry = collections.namedtuple('_Entry', ('blob', 'until'))


class _Kept:
    """What was decrypted while nothing that matters has changed.

    :param stamp: what :func:`_stamp` gave
    """

    def __init__(self, stamp):
        self.stamp = stamp
        self.entries = {}


class Decrypted:
    """Decrypted credentials of this process.

    They are bounded in time and number, and all of them are dropped when a
    key was added or removed. No lock is taken: threads at most decrypt the
    same blob twice.

    :param clock: callable, returns seconds that never go back
    :param most: largest number of credentials, of some 2 kB each
    """

    def __init__(self, clock=time.monotonic, most=1000):
        self._clock = clock
        self._most = most
        self._kept = _Kept(None)

    def get(self, credential, decrypt):
        """Decrypt a credential, or remember what that gave.

        :param credential: dict as it is stored; it is left as it is
        :param decrypt: callable, takes such a dict, puts ``blob`` in the
            place of what is encrypted there, and returns it
        :returns: a new dict
        :raises: what ``decrypt`` raises; nothing is kept then
        """
        key = credential.get('encrypted_blob'), credential.get('type')
        if not _is_on() or not key[0] or len(key[0]) > _LONGEST:
            return decrypt(dict(credential))
        kept = self._current()
        now = self._clock()
        entry = kept.entries.get(key)
        if entry is None or now >= entry.until:
            result = decrypt(dict(credential))
            blob = copy.deepcopy(result['blob'])
            entries = kept.entries
            _drop(entries, key, now, self._most)
            until = now + CONF.credential.decrypted_cache_time
            entries[key] = _Entry(blob, until)
            return result
        result = {
            name: value
            for name, value in credential.items()
            if name not in _STORED
        }
        result['blob'] = copy.deepcopy(entry.blob)
        return result

    def __len__(self):
        return len(self._kept.entries)

    def _current(self):
        stamp = _stamp()
        kept = self._kept
        if kept.stamp != stamp:
            kept = self._kept = _Kept(stamp)
        return kept


def _is_on():
    return (
        CONF.cache.enabled
        and CONF.credential.caching
        and CONF.credential.decrypted_cache_time
    )


def _stamp():
    """What stays the same while the keys of credentials do."""
    # A key is added by renaming a file, and removed with its file.
    try:
        keys = os.stat(CONF.credential.key_repository)
        return keys.st_ino, keys.st_mtime_ns
    except OSError:
        # Not on disk, or not there yet: the provider knows.
        return None


def _drop(entries, key, now, most):
    """Make room for one that was read again, or for another."""
    entries.pop(key, None)
    # The first one is the oldest.
    for other, entry in list(entries.items()):
        if now < entry.until and len(entries) < most:
            break
        entries.pop(other, None)
