# SPDX-License-Identifier: Apache-2.0

"""In-memory copy of the catalog in each worker process.

The catalogs of users and projects are built from it. Each change of the
catalog changes the id of the region of computed catalogs after its commit. The
copy is read again when this id, the stamp, has changed, or when it reaches the
maximum age of computed catalogs.
"""

import contextlib
import functools
import sys
import threading
import time

import cachetools
from oslo_log import log
from oslo_serialization import jsonutils

from keystone.catalog import answer_text
from keystone.catalog import content
from keystone.catalog import reading
from keystone.common import after_fork
from keystone.common.cache import facts
from keystone.common import driver_hints
from keystone.common import provider_api
import keystone.conf

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)
PROVIDERS = provider_api.ProviderAPIs

_MIB = 1024 * 1024
# Approximate bytes of an entry of the cache, with the id of a project.
_ENTRY = 300


def made_from_content(region):
    """Decorate the manager's method that returns a catalog.

    The method itself is called if the content cannot be kept.

    :param region: the cache region of computed catalogs
    """

    def decorate(get_v3_catalog):
        kept = InProcess(region)

        @functools.wraps(get_v3_catalog)
        def wrapper(self, user_id, project_id):
            catalog = kept.catalog(self, user_id, project_id)
            if catalog is None:
                catalog = get_v3_catalog(self, user_id, project_id)
            return catalog

        return wrapper

    return decorate


class Snapshot:
    """The content read under one stamp.

    :param driver: the ``[catalog] driver`` to read from
    :param stamp: bytes
    :param since: seconds of the clock, at or before the start of the read
    """

    def __init__(self, driver, stamp, since):
        self.driver = driver
        self.stamp = stamp
        self.since = since
        #: A :class:`~keystone.catalog.content.Content`; None if it is too
        #: large.
        self.content = reading.read_content()
        # None if no project is associated with any.
        self._endpoints = None
        if reading.has_filters():
            self._endpoints = driver.list_endpoints(driver_hints.Hints())
        self._size = sum(map(content.size_of, (self.content, self._endpoints)))
        room = CONF.catalog.in_process_size * _MIB - self._size
        if room < 0:
            LOG.warning(
                'The catalog of about %(size)d bytes exceeds [catalog] '
                'in_process_size and is not kept in memory.',
                {'size': self._size},
            )
            self.content = self._endpoints = None
            self._size = room = 0
        self._lock = threading.Lock()
        # The ids of the endpoints that are visible to a project.
        self._visible = cachetools.LRUCache(
            room, lambda ids: _ENTRY + sys.getsizeof(ids)
        )

    @property
    def size(self):
        """Estimated bytes of memory."""
        return self._size + self._visible.currsize

    @facts.apart
    def visible(self, manager, project_id):
        """The endpoints visible to a project.

        :param manager: the catalog's manager
        :returns: set of ids, or None for all
        :raises keystone.exception.ProjectNotFound: the project does not exist
            and nothing is kept for it
        """
        with self._lock:
            if project_id in self._visible:
                return self._visible[project_id]
        visible = None
        if self._endpoints is None:
            PROVIDERS.resource_api.get_project(project_id)
        else:
            visible = reading.read_visible(
                manager, project_id, self._endpoints
            )
        with self._lock, contextlib.suppress(ValueError):
            # It may exceed the memory that is left.
            self._visible[project_id] = visible
        return visible


class InProcess:
    """The catalog content of one process. Thread-safe.

    :param region: the cache region of computed catalogs
    :param clock: callable, returns monotonic seconds
    """

    def __init__(self, region, clock=time.monotonic):
        self._region = region
        self._clock = clock
        after_fork.call_now_and_after_fork(self._forget)

    def _forget(self):
        self._lock = threading.Lock()
        #: A :class:`Snapshot`; None before the first catalog.
        self.kept = None

    @property
    def bound(self):
        """The maximum age of the content, in seconds."""
        own = CONF.catalog.cache_time
        return CONF.cache.expiration_time if own is None else own

    def catalog(self, manager, user_id, project_id):
        """The catalog of a user in a scope.

        :param manager: the catalog's manager
        :returns: a new list of dicts, in the form of
            ``CatalogDriverBase.get_v3_catalog``, or its text if accepted;
            None if the content cannot be kept
        :raises keystone.exception.ProjectNotFound: the project does not exist
            and nothing is kept for it
        """
        stamp = self._stamp(manager.driver)
        if stamp is None:
            return None
        kept = self._in_step(manager.driver, stamp)
        content = kept.content
        if content is None:
            return None
        facts.end_in(kept.since + self.bound - self._clock())
        visible = None
        if project_id:
            visible = kept.visible(manager, project_id)
        if (
            visible is None
            and not CONF.endpoint_filter.return_all_endpoints_if_no_filter
        ):
            return []
        text = content.text(user_id, project_id, visible)
        if answer_text.is_wanted():
            return answer_text.Text(text)
        return jsonutils.loads(text)

    def _stamp(self, driver):
        """The current stamp; None if the content must not be kept."""
        if (
            CONF.catalog.in_process_size
            and CONF.catalog.caching
            and CONF.cache.enabled
            and self.bound > 0
            and reading.can_read(driver)
        ):
            manager = self._region.region_invalidator._region_manager
            stamp = manager.region_id
            # Without a cache, each request has another one.
            return stamp if manager.ids.is_known(manager.name) else None
        return None

    @facts.apart
    def _in_step(self, driver, stamp):
        kept = self.kept
        if not self._holds(kept, driver, stamp):
            with self._lock:
                kept = self.kept
                if not self._holds(kept, driver, stamp):
                    kept = Snapshot(driver, stamp, self._clock())
                    self.kept = kept
        return kept

    def _holds(self, kept, driver, stamp):
        return (
            kept is not None
            and kept.driver is driver
            and kept.stamp == stamp
            and self._clock() - kept.since < self.bound
        )
