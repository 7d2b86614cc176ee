# SPDX-License-Identifier: Apache-2.0

"""Whether a port of the loopback interface is free, and who has it."""

import os
import pathlib
import socket

from patchset import errors

_LISTEN = '0A'  # the state of a listening socket in /proc/net/tcp


def check(port):
    """Make sure that a server can listen on 127.0.0.1.

    :raises patchset.errors.Error: another program has the port, or this
        user may not have it
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(('127.0.0.1', port))
            probe.listen()
        except PermissionError:
            raise errors.Error(f'port {port}: not permitted for this user')
        except OSError:
            who = holder(port) or 'another program'
            raise errors.Error(
                f'port {port} of 127.0.0.1 is in use by {who}; stop it, or '
                f'choose another port'
            )


def holder(port):
    """Name and process id of the program that listens; None if unknown.

    Processes of other users stay unknown to anybody but root.
    """
    links = {f'socket:[{inode}]' for inode in _inodes(port)}
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            descriptors = list((folder / 'fd').iterdir())
            if any(_link(one) in links for one in descriptors):
                name = (folder / 'comm').read_text().strip()
                return f'{name} (process {folder.name})'
        except OSError:
            continue
    return None


def _link(path):
    try:
        return os.readlink(path)
    except OSError:
        return None


def _inodes(port):
    """Inodes of the sockets that listen on a port, on any address."""
    for table in ('/proc/net/tcp', '/proc/net/tcp6'):
        try:
            rows = pathlib.Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            fields = row.split()
            here = int(fields[1].rpartition(':')[2], 16)
            if fields[3] == _LISTEN and here == port:
                yield fields[9]
