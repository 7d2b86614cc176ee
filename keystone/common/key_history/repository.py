# SPDX-License-Identifier: Apache-2.0

"""Key repositories of this node."""

import base64
import hmac
import os
import re
import socket

from cryptography import fernet

from keystone.common import fernet_utils
import keystone.conf
from keystone.credential.providers import fernet as credential_fernet

CONF = keystone.conf.CONF

TOKENS = 'fernet_tokens'
RECEIPTS = 'fernet_receipts'
CREDENTIALS = 'credential'

STAGED = 0


class Repository(fernet_utils.FernetUtils):
    """The key repository of a configuration section.

    :param section: one of :data:`TOKENS`, :data:`RECEIPTS` and
        :data:`CREDENTIALS`
    """

    def __init__(self, section):
        super().__init__(
            os.path.abspath(CONF[section].key_repository),
            credential_fernet.MAX_ACTIVE_KEYS
            if section == CREDENTIALS
            else CONF[section].max_active_keys,
            section,
        )
        name = f'{socket.gethostname()}:{self.key_repository}'
        #: name of this node for others, which accept no other characters
        self.node = re.sub(r'[^\w.:/@+-]', '_', name, flags=re.ASCII)

    def read(self):
        """Read the current keys.

        :returns: {index: bytes}
        :raises OSError: the keys cannot be read
        :raises ValueError: a key is invalid
        """
        files, keys = self._get_key_files(self.key_repository)
        found = {index: key.strip().encode() for index, key in keys.items()}
        for index, key in found.items():
            try:
                fernet.Fernet(key)
            except ValueError:
                raise ValueError(f'invalid key: {files[index]}') from None
        return found

    def lifetimes(self, longest=0):
        """Lifetimes of what is signed now.

        :param longest: seconds until tokens expire, at least
        :returns: set of (seconds until expiry, seconds of the
            ``allow_expired_window``); empty if unbounded
        """
        window = CONF.token.allow_expired_window
        by_section = {
            TOKENS: (max(CONF.token.expiration, longest), window),
            RECEIPTS: (CONF.receipt.expiration, 0),
        }
        return {
            lifetime
            for section, lifetime in by_section.items()
            if os.path.abspath(CONF[section].key_repository)
            == self.key_repository
        }

    def removed(self, indexes):
        """The keys that a rotation would delete.

        :param indexes: indexes of the current keys
        :returns: set of indexes
        """
        # The staged key becomes the newest one.
        oldest_first = [*sorted({*indexes} - {STAGED}), STAGED]
        left = max(0, self.max_active_keys - 1)
        removed = oldest_first[: max(0, len(oldest_first) - left)]
        return {index for index in removed if index in indexes}


def repositories():
    """The distinct repositories that this node signs with.

    :returns: list of :class:`Repository`
    """
    sections = [RECEIPTS, CREDENTIALS]
    if CONF.token.provider == 'fernet':
        sections.insert(0, TOKENS)
    return distinct(sections)


def distinct(sections):
    """The distinct repositories of sections; first section's options.

    :returns: list of :class:`Repository`
    """
    found = {}
    for section in sections:
        one = Repository(section)
        found.setdefault(one.key_repository, one)
    return list(found.values())


def name(key):
    """A name for a key that does not reveal the key.

    :param key: bytes
    :returns: str, 32 hexadecimal digits
    """
    return hmac.digest(key, b'keystone: name of a key', 'sha256').hex()[:32]


def sealed_by(key):
    """A cipher for the reports of nodes.

    It uses a derived key, so that no report can be used as a token.

    :param key: bytes
    """
    own = hmac.digest(key, b'keystone: report of a node', 'sha256')
    return fernet.Fernet(base64.urlsafe_b64encode(own))
