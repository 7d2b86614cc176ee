# SPDX-License-Identifier: Apache-2.0

"""One Keystone of several that stand behind one address."""

import os
import pathlib
import signal

from patchset import child
from patchset import deployment


class Node(deployment.Deployment):
    """A Keystone that tells its clients the address of HAProxy.

    :param name: what HAProxy calls it
    :param region: number of its region
    :param is_stock: whether its tree is upstream's
    :param public: address of the API that the catalog names

    The others are those of :class:`patchset.deployment.Deployment`.
    """

    def __init__(self, name, region, is_stock, public, *args, **options):
        super().__init__(*args, **options)
        self.name = name
        self.region = region
        self.is_stock = is_stock
        self._public = public

    @property
    def url(self):
        """Address of the API, the same for all nodes."""
        return self._public

    @property
    def is_running(self):
        return self._server is not None and self._server.poll() is None

    def prepare_like(self, first):
        """Make what is missing, where another node has made the schema.

        :param first: that node, whose keys this one's options name
        """
        self.state.claim()
        self.state.write('admin-password', first.password)
        self.state.note(first.state.record())
        self.prepare()

    def workers(self):
        """Process ids of the running server processes: a list."""
        pid = self.pid
        path = pathlib.Path(f'/proc/{pid}/task/{pid}/children')
        return [int(one) for one in path.read_text().split()]

    def kill_worker(self):
        """Kill one server process; uWSGI starts another in its place."""
        os.kill(self.workers()[0], signal.SIGKILL)

    def kill(self):
        """Kill all of it; it can be started again."""
        child.stop(self._server, signal.SIGKILL)
        self._server = None

    def ask_to_end(self):
        """Have it end, and do not wait for that; :meth:`stop` does."""
        if self.is_running:
            self._server.terminate()
