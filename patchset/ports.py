# SPDX-License-Identifier: Apache-2.0

"""Whether a port of the loopback interface is free, and who has it."""

import re
import socket

from patchset import child
from patchset import errors


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
    try:
        listed = child.run(['ss', '-Hltnp', f'sport = :{port}'])
    except errors.Error:
        return None
    found = re.search(r'"([^"]+)",pid=(\d+)', listed)
    return f'{found[1]} (process {found[2]})' if found else None
