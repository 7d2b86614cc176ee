# SPDX-License-Identifier: Apache-2.0

"""Roles granted to the admin that a load has created and not removed.

When Rally deletes a role, it takes a 404 response as a sign that the role is
already deleted. Stock also returns 404 if a role of the caller was deleted
immediately before. The remaining roles are part of all later tokens of the
admin, and slow down all later measurements of that side only.
"""

import contextlib

from bench import client
from bench import load
from patchset import errors

_TRIES = 5


class Roles:
    """The roles of a side as they are now, to be so again later.

    :param side: a :class:`bench.rig.Side`
    """

    def __init__(self, side):
        self._side = side
        self._kept = self._found()

    def restore(self):
        """Delete the roles that came since, through the API.

        :raises patchset.errors.Error: some are still there
        """
        tries = 0
        while left := self._new():
            if tries == _TRIES:
                raise errors.Error(
                    f'{self._side.name}: {len(left)} roles that rally has '
                    f'left could not be deleted in {_TRIES} tries'
                )
            tries += 1
            for role in left:
                self._delete(role)

    def _delete(self, role):
        keystone = self._side.keystone
        log_in(self._side)
        # The next try tells whether it is gone.
        with contextlib.suppress(errors.Error):
            caller = client.token(keystone)
            client.delete(keystone, caller, f'/roles/{role}')

    def _new(self):
        return self._found() - self._kept

    def _found(self):
        """Ids of all roles, as a set."""
        return {role for (role,) in self._side.query('SELECT id FROM role')}


def log_in(side):
    """Have each process of a side answer a request without a token.

    A process of stock that was asked for a token while a role went may answer
    404 to each token from then on: it reads what the last request left on its
    thread, and none gets as far as to leave something else. A request without
    a token ends that.

    :raises patchset.errors.Error: an answer was not a success
    """
    keystone = side.keystone
    request = '', '', client.login(keystone).decode()
    # Of those that wait at once each process takes one, and is busy with it
    # while the rest is taken.
    clients = 2 * keystone.processes
    load.exactly(side.url, [request] * 2 * clients, clients)
