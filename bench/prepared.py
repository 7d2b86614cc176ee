# SPDX-License-Identifier: Apache-2.0

"""Prepares both sides once for several experiments.

keystone-manage takes longer to create keys, a schema and an admin than some
experiments take to measure. Each experiment still has its own servers. Their
databases and state folders have the contents that those of the first
experiment had before Keystone was started.
"""

import pathlib
import shutil
import tempfile

from patchset import errors
from patchset import ports
from patchset.services import server


class Prepared:
    """What is kept of both sides, until the end of the block."""

    def __init__(self):
        self._temporary = None
        self._folder = None
        self._ports = {}

    def __enter__(self):
        # It contains keys and a password, and must be private.
        self._temporary = tempfile.TemporaryDirectory(prefix='ks-prepared-')
        self._folder = pathlib.Path(self._temporary.name)
        return self

    def __exit__(self, *_):
        self._temporary.cleanup()

    def port(self, name):
        """A port for a side: the one it had, or the catalog would be wrong.

        If that is taken, another one, and keystone-manage has to run again.

        :param name: ``stock`` or ``patched``
        """
        kept = self._ports.setdefault(name, server.free_port())
        try:
            ports.check(kept)
        except errors.Error:
            return server.free_port()
        return kept

    def fill(self, name, database, state):
        """Give a side what is kept of it, if anything is.

        :param database: a running :class:`patchset.services.mariadb.MariaDB`
            that has an empty database of that name
        :param state: path of its state folder, which is not there yet
        """
        if self._dump(name).exists():
            shutil.copytree(self._folder / name, state)
            database.load(name, self._dump(name))

    def keep(self, name, database, state):
        """Keep what a side has been prepared with, once."""
        if not self._dump(name).exists():
            shutil.copytree(state, self._folder / name)
            database.dump(name, self._dump(name))

    def _dump(self, name):
        return self._folder / f'{name}.sql'
