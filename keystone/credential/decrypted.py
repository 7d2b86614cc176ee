# SPDX-License-Identifier: Apache-2.0

"""Local cache of decrypted credentials.

Shared caches store credentials encrypted, and decrypting one reads every key
file. Decrypted content is only kept in this process, keyed by the encrypted
content, so that a changed credential never matches.
"""

import collections
import copy
import os
import time

import keystone.conf

CONF = keystone.conf.CONF

# Characters of an encrypted blob. That of an access key with its secret has
# about 400; longer ones, such as certificates, are not performance-critical.
_LONGEST = 2048

_STORED = frozenset(('encrypted_blob', 'key_hash'))

_Entry = collections.namedtuple('_Entry', ('blob', 'until'))


class _Entries:
    """Credentials decrypted with the same keys and settings.

    :param stamp: result of :func:`_stamp`
    """

    def __init__(self, stamp):
        self.stamp = stamp
        self.entries = {}


class Decrypted:
    """Decrypted credentials of this process.

    They are limited in time and number, and dropped when a key is added or
    removed. No lock is taken: at worst, threads decrypt the same blob twice.

    :param clock: callable, returns monotonic seconds
    :param most: maximum number of credentials, of about 2 kB each
    """

    def __init__(self, clock=time.monotonic, most=1000):
        self._clock = clock
        self._most = most
        self._kept = _Entries(None)

    def get(self, credential, decrypt):
        """Decrypt a credential, or return the cached result.

        :param credential: dict as it is stored; not modified
        :param decrypt: callable, takes such a dict, replaces the encrypted
            content with ``blob``, and returns it
        :returns: a new dict
        :raises: errors of ``decrypt``; nothing is kept then
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
            kept = self._kept = _Entries(stamp)
        return kept


def _is_on():
    return (
        CONF.cache.enabled
        and CONF.credential.caching
        and CONF.credential.decrypted_cache_time
    )


def _stamp():
    """A value that changes with the credential keys."""
    # A key is added by renaming a file, and removed with its file.
    try:
        keys = os.stat(CONF.credential.key_repository)
        return keys.st_ino, keys.st_mtime_ns
    except OSError:
        # Not on disk, or not created yet: left to the provider.
        return None


def _drop(entries, key, now, most):
    """Make room for an entry that was refreshed, or for another."""
    entries.pop(key, None)
    # The first one is the oldest.
    for other, entry in list(entries.items()):
        if now < entry.until and len(entries) < most:
            break
        entries.pop(other, None)
