# SPDX-License-Identifier: Apache-2.0

"""Encryption of shared records.

Access to the cache server neither reveals tokens nor allows records to be
forged. Each record has a key of its own, which binds it to its name, and for
which random nonces suffice. Keys and names are computed with keys derived from
all that encrypt, sign or verify tokens, and from the options that records
depend on, since processes may be restarted with other ones.
"""

from collections.abc import Iterable
import hashlib
import os
import secrets
from typing import NamedTuple

from cryptography import exceptions
from cryptography.hazmat.primitives.ciphers import aead
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf import hkdf

from keystone.common import fernet_utils
import keystone.conf
from keystone.token.validation_cache import record

CONF = keystone.conf.CONF

_VERSION = bytes((record.FORMAT,))
_NONCE = 12  # bytes
_PREFIX = 'keystone.record.'

# Options that decide what is in a token or a response, which tokens are
# accepted, and for how long a record is valid.
_OPTIONS = (
    ('auth', 'methods'),
    ('resource', 'admin_project_name'),
    ('resource', 'admin_project_domain_name'),
    ('jwt_tokens', 'jws_accepted_algorithms'),  # not in all releases
    ('cache', 'expiration_time'),
    *(
        (section, option)
        for section in (
            'application_credential', 'credential', 'federation', 'identity',
            'resource', 'role', 'token',
        )
        for option in ('caching', 'cache_time')
    ),
)  # fmt: skip


class Keys(NamedTuple):
    """The keys derived from all current token keys.

    Records sealed before a key was added or removed are no longer found, since
    their tokens may have been created with a removed key.
    """

    seal: bytes
    names: bytes


def _derive(secret: bytes, use: str) -> bytes:
    options = [
        CONF[section][option]
        for section, option in _OPTIONS
        if option in CONF[section]
    ]
    info = f'keystone records: {use} {options}'
    return hkdf.HKDF(
        hashes.SHA256(), 32, salt=None, info=info.encode()
    ).derive(secret)


class Sealer:
    """Provides the keys that records are sealed with."""

    def __init__(self) -> None:
        # The paths of directories and files, their state, a digest of the
        # token keys, and the keys.
        self._known: tuple = ((), None, b'', None)

    def read(self) -> Keys | None:
        """The current keys: the same object while they are unchanged.

        :returns: None if the keys of the token provider are unknown
        """
        paths, state, known, keys = self._known
        if _state_of(paths) == state:
            return keys
        try:
            # Before the keys, which may then be newer but never older.
            paths, state = _listed()
            found = sorted(_secrets())
        except OSError:
            # A rotation may remove a key meanwhile.
            return None
        secret = b''.join(hashlib.sha256(one).digest() for one in found)
        # Other files may have changed, such as the history of the keys.
        if secret != known:
            keys = None
            if secret:
                keys = Keys(_derive(secret, 'seal'), _derive(secret, 'names'))
        self._known = paths, state, secret, keys
        return keys


def name(keys: Keys, text: str) -> str:
    """The name of the shared record of a text, which does not reveal it."""
    digest = hashlib.blake2b(text.encode(), key=keys.names, digest_size=20)
    return _PREFIX + digest.hexdigest()


def seal(keys: Keys, name: str, content: bytes) -> bytes:
    """Encrypt content, bound to its name."""
    nonce = secrets.token_bytes(_NONCE)
    sealed = _cipher(keys, name).encrypt(nonce, content, _VERSION)
    return _VERSION + nonce + sealed


def unseal(keys: Keys, name: str, sealed: bytes | None) -> bytes | None:
    """The reverse of :func:`seal`; None if it was not sealed under this name.

    :param sealed: the result of :func:`seal`, anything else, or None
    """
    if not sealed or sealed[:1] != _VERSION:
        return None
    nonce, content = sealed[1 : 1 + _NONCE], sealed[1 + _NONCE :]
    try:
        return _cipher(keys, name).decrypt(nonce, content, _VERSION)
    except (exceptions.InvalidTag, ValueError):
        return None


def _cipher(keys: Keys, name: str) -> aead.AESGCM:
    digest = hashlib.blake2b(name.encode(), key=keys.seal, digest_size=32)
    return aead.AESGCM(digest.digest())


def _folders() -> list[str]:
    """The directories of the keys used to create or verify tokens."""
    if CONF.token.provider == 'fernet':
        return [CONF.fernet_tokens.key_repository]
    if CONF.token.provider == 'jws':
        return [
            CONF.jwt_tokens.jws_private_key_repository,
            CONF.jwt_tokens.jws_public_key_repository,
        ]
    return []


def _listed() -> tuple[list[str], list[tuple | None]]:
    """The directories of the keys and what is in them, with their state.

    A key that is removed or replaced always changes the state. One that is
    only added may not, within the resolution of the file system's clock; then,
    this process does not find the records of others until the next change.
    """
    folders = _folders()
    state = _state_of(folders)
    files = [
        os.path.join(folder, name)
        for folder, of_folder in zip(folders, state)
        if of_folder
        for name in os.listdir(folder)
    ]
    return folders + files, state + _state_of(files)


def _state_of(paths: Iterable[str]) -> list[tuple | None]:
    """Values that change when a file or directory is changed or replaced."""
    state: list = []
    for path in paths:
        try:
            found = os.stat(path)
        except OSError:
            state.append(None)
            continue
        # The others can be kept when a file is replaced.
        changed = found.st_ctime_ns
        state.append((found.st_ino, found.st_size, found.st_mtime_ns, changed))
    return state


def _secrets() -> list[bytes]:
    """The keys; an empty list without a key that is secret.

    :raises OSError: one of them cannot be read
    """
    if CONF.token.provider == 'fernet':
        repository = fernet_utils.FernetUtils(
            CONF.fernet_tokens.key_repository,
            CONF.fernet_tokens.max_active_keys,
            'fernet_tokens',
        )
        return [key.encode() for key in repository.load_keys()]
    if CONF.token.provider != 'jws':
        return []
    jws = CONF.jwt_tokens
    public = jws.jws_public_key_repository
    # No other file beside the private key is used for tokens.
    private = os.path.join(jws.jws_private_key_repository, 'private.pem')
    found = []
    for path in (private, *(f'{public}/{one}' for one in os.listdir(public))):
        with open(path, 'rb') as key_file:
            found.append(key_file.read())
    return found if found[0].strip() else []
