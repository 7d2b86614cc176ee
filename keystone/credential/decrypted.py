# SPDX-License-Identifier: Apache-2.0

"""Local cache of decrypted credentials.

Shared caches store credentials encrypted, and decrypting one reads every key
file. Decrypted content is only kept in this process, keyed by the encrypted
content, so that a changed credential never matches.
"""

import copy
import os
import time

from keystone.common import local_store
import keystone.conf

CONF = keystone.conf.CONF

# Maximum time (in seconds) that decrypted content is kept. This is also how
# long content of a key file that was replaced in place is still used.
_LIFETIME = 60

# Characters of an encrypted blob. That of an access key with its secret has
# about 400; longer ones, such as certificates, are not performance-critical.
_LONGEST = 2048

_STORED = frozenset(('encrypted_blob', 'key_hash'))


class Decrypted:
    """Decrypted credentials of this process.

    They are limited in time and number, and not used after a key was added or
    removed. Thread-safe: at worst, threads decrypt the same blob twice.

    :param clock: callable, returns monotonic seconds
    :param most: maximum number of credentials, of about 2 kB each
    """

    def __init__(self, clock=time.monotonic, most=1000):
        self._kept = local_store.LocalStore(most, lambda: _LIFETIME, clock)

    def get(self, credential, decrypt):
        """Decrypt a credential, or return the cached result.

        :param credential: dict as it is stored; not modified
        :param decrypt: callable, takes such a dict, replaces the encrypted
            content with ``blob``, and returns it
        :returns: a new dict
        :raises: errors of ``decrypt``; nothing is kept then
        """
        text = credential.get('encrypted_blob')
        is_on = CONF.cache.enabled and CONF.credential.caching
        if not is_on or not text or len(text) > _LONGEST:
            return decrypt(dict(credential))
        # Before decrypting, with keys that may then be newer but never older.
        key = text, credential.get('type'), _stamp()
        blob = self._kept.get(key)
        if blob is None:
            blob = decrypt(dict(credential))['blob']
            self._kept.put(key, blob)
        result = {k: v for k, v in credential.items() if k not in _STORED}
        result['blob'] = copy.deepcopy(blob)
        return result


def _stamp():
    """A value that changes with the credential keys."""
    # A key is added by renaming a file, and removed with its file.
    try:
        keys = os.stat(CONF.credential.key_repository)
        return keys.st_ino, keys.st_mtime_ns
    except OSError:
        # Not on disk, or not created yet: left to the provider.
        return None
