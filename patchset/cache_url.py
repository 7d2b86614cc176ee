# SPDX-License-Identifier: Apache-2.0

"""Cache URLs: memcached://HOST:PORT."""

import socket
from urllib import parse

from patchset import errors

PATIENCE = 5  # seconds that memcached has to answer


def address(url):
    """Host and port of a cache URL.

    :raises patchset.errors.UsageError: not of the form above
    """
    parts = parse.urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    if (
        parts.scheme != 'memcached'
        or not parts.hostname
        or not port
        or parts.path not in ('', '/')
    ):
        raise errors.UsageError(
            f'cache URL {url!r}: expected memcached://HOST:PORT'
        )
    return parts.hostname, port


def check(url):
    """Make sure that a memcached answers.

    :raises patchset.errors.Error: none does
    """
    host, port = address(url)
    try:
        with socket.create_connection((host, port), PATIENCE) as connection:
            connection.settimeout(PATIENCE)
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


def servers(url):
    """The address as python-memcached wants it."""
    host, port = address(url)
    return f'inet6:[{host}]:{port}' if ':' in host else f'{host}:{port}'
