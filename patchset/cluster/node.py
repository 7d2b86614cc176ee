# SPDX-License-Identifier: Apache-2.0

"""One Keystone node behind HAProxy."""

import os
import pathlib
import signal

from patchset import child
from patchset import deployment
from patchset import errors

_CLOCK = pathlib.Path(__file__).parent / 'clock'
_LIBRARIES = '*/faketime/libfaketimeMT.so.1'  # in /usr/lib


class Node(deployment.Deployment):
    """A Keystone whose endpoint in the catalog is HAProxy.

    :param name: its name in HAProxy
    :param region: number of its region
    :param is_stock: whether it runs stock Keystone
    :param public: URL of the API in the catalog

    The other parameters are those of
    :class:`patchset.deployment.Deployment`.
    """

    def __init__(self, name, region, is_stock, public, *args, **options):
        super().__init__(*args, **options)
        self.name = name
        self.region = region
        self.is_stock = is_stock
        #: clock skew in seconds, from the next start on
        self.skew = 0
        self._public = public

    @property
    def url(self):
        """URL of the API, the same for all nodes."""
        return self._public

    def kill_worker(self):
        """Kill one worker process, which uWSGI replaces."""
        os.kill(child.children(self.pid)[0], signal.SIGKILL)

    def kill(self):
        """Kill the node; it can be started again."""
        child.stop(self._server, signal.SIGKILL)
        self._server = None

    def end(self):
        """End the server, and remove the files that libfaketime leaves."""
        pid = self._server and self.pid
        super().end()
        for path in pathlib.Path('/dev/shm').glob(f'*faketime_???_{pid}'):
            path.unlink()

    def _variables(self):
        variables = super()._variables()
        if not self.skew:
            return variables
        library = next(pathlib.Path('/usr/lib').glob(_LIBRARIES), None)
        if not library:
            raise errors.NotInstalled('libfaketime is not installed')
        return {
            **variables,
            'PYTHONPATH': f'{_CLOCK}:{variables["PYTHONPATH"]}',
            'LD_PRELOAD': str(library),
            'FAKETIME': f'{self.skew:+d}s',
            # A wrong wall clock does not affect timers.
            'FAKETIME_DONT_FAKE_MONOTONIC': '1',
        }
