# SPDX-License-Identifier: Apache-2.0

"""URLs of databases and caches as a user may write them."""

import contextlib
import pathlib
import socket
from urllib import parse

from patchset import errors

# What a user may write before '://', and the driver that it stands for:
# one pure or prebuilt driver each, as the lock file has them.
_DRIVERS = {
    'sqlite': 'sqlite',
    'mysql': 'mysql+pymysql',
    'mysql+pymysql': 'mysql+pymysql',
    'mariadb': 'mysql+pymysql',
    'postgres': 'postgresql+psycopg2',
    'postgresql': 'postgresql+psycopg2',
    'postgresql+psycopg2': 'postgresql+psycopg2',
}
_PATIENCE = 5  # seconds that memcached has to answer


def normalise(url, also=()):
    """The URL with its driver named and an SQLite path made absolute.

    :param also: further drivers that the URL may name
    :raises patchset.errors.UsageError: a dialect that is not supported, or
        an SQLite database that would live in memory only
    """
    scheme, separator, rest = url.partition('://')
    drivers = {**_DRIVERS, **{name: name for name in also}}
    driver = drivers.get(scheme.lower()) if separator else None
    if driver is None:
        # The text after '://' may hold a password: it is not repeated.
        raise errors.UsageError(
            f'database URL: unknown dialect {scheme if separator else ""!r}; '
            f'known are mysql://, postgresql:// and sqlite:///'
        )
    if driver != 'sqlite':
        return f'{driver}://{rest}'
    path, mark, query = rest.removeprefix('/').partition('?')
    if not rest.startswith('/') or path in ('', ':memory:'):
        raise errors.UsageError(
            'database URL: SQLite needs a file, as in sqlite:////tmp/k.db'
        )
    return f'sqlite:///{pathlib.Path(path).absolute()}{mark}{query}'


def redacted(url):
    """The URL for messages: its password and its options left out."""
    scheme, _, rest = url.partition('://')
    rest = rest.partition('?')[0]
    return f'{scheme}://{rest.rpartition("@")[2]}'


def passwords(url):
    """Each way in which the URL's password may be written, longest first."""
    rest = url.partition('://')[2]
    account, _, _ = rest.rpartition('@')
    quoted = account.partition(':')[2]
    return sorted({quoted, parse.unquote(quoted)} - {''}, key=len)[::-1]


def cache_address(url):
    """Host and port of a cache URL.

    :raises patchset.errors.UsageError: not memcached://HOST:PORT
    """
    with contextlib.suppress(ValueError):
        parts = parse.urlsplit(url)
        is_memcached = parts.scheme == 'memcached' and parts.path in ('', '/')
        if is_memcached and parts.hostname and parts.port:
            return parts.hostname, parts.port
    raise errors.UsageError(
        f'cache URL {url!r}: expected memcached://HOST:PORT'
    )


def check_cache(url):
    """Make sure that a memcached answers.

    :raises patchset.errors.Error: none does
    """
    host, port = cache_address(url)
    try:
        with socket.create_connection((host, port), _PATIENCE) as connection:
            connection.settimeout(_PATIENCE)
            connection.sendall(b'version\r\n')
            answer = connection.recv(512)
    except OSError as error:
        reason = error.strerror or str(error)
        raise errors.Error(f'no memcached at {host}:{port}: {reason}')
    if not answer.startswith(b'VERSION '):
        raise errors.Error(
            f'no memcached at {host}:{port}: the port is in use by another '
            f'program'
        )


def cache_servers(url):
    """The address as python-memcached wants it."""
    host, port = cache_address(url)
    return f'inet6:[{host}]:{port}' if ':' in host else f'{host}:{port}'
