# SPDX-License-Identifier: Apache-2.0

"""Record the signing keys of this node, and report differing nodes."""

import functools
import math
import threading
import time

from oslo_log import log

from keystone.common.key_history import history
from keystone.common.key_history import nodes
from keystone.common.key_history import outlook
from keystone.common.key_history import repository

LOG = log.getLogger(__name__)

# Seconds until the next check if the records are locked.
_PAUSE = 1


def watch(application):
    """Record keys while there are requests.

    :param application: WSGI application
    :returns: WSGI application
    """
    watcher = Watcher()

    def watched(environ, start_response):
        watcher.look()
        return application(environ, start_response)

    return watched


class Watcher:
    """Checks the keys before the first request, and once a minute.

    :param clock: callable, returns monotonic seconds
    """

    def __init__(self, clock=time.monotonic):
        self._clock = clock
        self._next = -math.inf
        self._reports = functools.cache(nodes.Reports)
        self._told = {}
        self._lock = threading.Lock()

    def look(self):
        """Check the keys if it is time to; raises no errors."""
        now = self._clock()
        with self._lock:
            if now < self._next:
                return
            self._next = now + history.INTERVAL
        for one in repository.repositories():
            try:
                reports = self._reports(one.config_group)
                found = outlook.look(one, reports, in_command=False)
            except BlockingIOError:
                # A command may hold the lock for long.
                self._next = now + _PAUSE
                continue
            except (FileNotFoundError, ValueError):
                # Not set up, which is reported elsewhere if needed.
                continue
            except Exception as error:
                self._tell(one.key_repository, [f'failed to record: {error}'])
                continue
            self._tell(one.key_repository, list(found.differences()))

    def _tell(self, path, words):
        if words != self._told.get(path, []):
            self._told[path] = words
            for line in words or ['all nodes have the same keys']:
                LOG.warning('Keys in %s: %s', path, line)
