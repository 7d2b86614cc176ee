# SPDX-License-Identifier: Apache-2.0

"""Record which keys this node signs with, and tell where nodes differ."""

import time

from oslo_log import log

from keystone.common.key_history import history
from keystone.common.key_history import nodes
from keystone.common.key_history import outlook
from keystone.common.key_history import repository

LOG = log.getLogger(__name__)


def watch(application):
    """Have keys recorded while there are requests.

    :param application: WSGI application
    :returns: WSGI application
    """
    watcher = Watcher()

    def watched(environ, start_response):
        watcher.look()
        return application(environ, start_response)

    return watched


class Watcher:
    """Looks at the keys before the first request, and once in a minute.

    :param clock: callable, returns seconds that never go back
    """

    def __init__(self, clock=time.monotonic):
        self._clock = clock
        self._next = None
        self._reports = {}
        self._told = {}

    def look(self):
        """Look at the keys if it is time to; no error is raised."""
        now = self._clock()
        if self._next is not None and now < self._next:
            return
        self._next = now + history.INTERVAL
        for one in repository.repositories():
            try:
                found = outlook.look(one, self._of(one.config_group))
            except (FileNotFoundError, ValueError):
                # Not set up; what needs it says so.
                continue
            except Exception as error:
                self._tell(one.key_repository, [f'failed to record: {error}'])
                continue
            self._tell(one.key_repository, list(found.differences()))

    def _of(self, section):
        if section not in self._reports:
            self._reports[section] = nodes.Reports(section)
        return self._reports[section]

    def _tell(self, path, words):
        if words != self._told.get(path, []):
            self._told[path] = words
            for line in words or ['all nodes have the same keys']:
                LOG.warning('Keys in %s: %s', path, line)
