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
# Stands for what is visible to a project, which was not read.
_UNKNOWN = object()
# Approximate bytes of an entry of the cache, with the id of a project.
_ENTRY = 300


def made_from_content(region):
    """Decorate the manager's method that returns a catalog.

    The method itself is called if the content cannot be kept.

    :param region: the cache region of computed catalogs
    """

    def decorate(get_v3_catalog):
        CONTENT.region = region

        # Records do not contain it, but have it read for each response.
        @functools.wraps(get_v3_catalog)
        @facts.apart
        def wrapper(self, user_id, project_id):
            text = CONTENT.text(self, user_id, project_id)
            is_text = answer_text.is_wanted()
            if text is None:
                catalog = get_v3_catalog(self, user_id, project_id)
                if not is_text:
                    return catalog
                text = jsonutils.dumps(catalog)
            if is_text:
                return answer_text.Text(text, user_id, project_id)
            return jsonutils.loads(text)

        return wrapper

    return decorate


class Snapshot:
    """The content read under one stamp.

    :param driver: the ``[catalog] driver`` to read from
    :param stamp: bytes
    :param until: expiry in seconds of the clock
    """

    def __init__(self, driver, stamp, until):
        self.driver = driver
        self.stamp = stamp
        self.until = until
        #: A :class:`~keystone.catalog.content.Content`; None if it is too
        #: large.
        self.content = reading.read_content()
        # None if no project is associated with any.
        self._endpoints = None
        if reading.has_filters():
            self._endpoints = driver.list_endpoints(driver_hints.Hints())
        self._size = content.size_of([self.content.services, self._endpoints])
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
        # The ids of the endpoints visible to a project, by project; templates
        # of catalogs, by what they depend on.
        self._kept = cachetools.LRUCache(
            room, lambda value: _ENTRY + sys.getsizeof(value)
        )

    @property
    def size(self):
        """Estimated bytes of memory."""
        return self._size + self._kept.currsize

    def text(self, user_id, project_id, manager=None):
        """The catalog of a user in a scope, as JSON.

        :param manager: the catalog's manager, to read what is not kept
        :returns: str; without a manager, None if something has to be read
        """
        visible, has_project = None, bool(project_id)
        show_all = CONF.endpoint_filter.return_all_endpoints_if_no_filter
        with self._lock:
            if has_project:
                visible = self._kept.get(project_id, _UNKNOWN)
            template = self._kept.get((visible, has_project, show_all))
        if manager and template is None:
            if visible is _UNKNOWN:
                visible = self._read_visible(manager, project_id)
                self._keep(project_id, visible)
            template = '[]'
            if visible is not None or show_all:
                template = self.content.template(has_project, visible)
            self._keep((visible, has_project, show_all), template)
        if template:
            return content.fill(template, user_id, project_id)
        return manager and self.content.text(user_id, project_id, visible)

    def _read_visible(self, manager, project_id):
        """The ids of the endpoints visible to a project, or None for all."""
        if self._endpoints is None:
            PROVIDERS.resource_api.get_project(project_id)
            return None
        found = reading.read_visible(manager, project_id, self._endpoints)
        return found and frozenset(found)

    def _keep(self, key, value):
        with self._lock, contextlib.suppress(ValueError):
            # It may exceed the memory that is left.
            self._kept[key] = value


class InProcess:
    """The catalog content of one process. Thread-safe.

    :param region: the cache region of computed catalogs
    :param clock: callable, returns monotonic seconds
    """

    def __init__(self, region, clock=time.monotonic):
        self.region = region
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

    def known(self, stamp, user_id, project_id):
        """The catalog under a stamp, or None if it has to be read."""
        kept = self._current(stamp)
        return None if kept is None else kept.text(user_id, project_id)

    def text(self, manager, user_id, project_id):
        """The catalog of a user in a scope.

        :param manager: the catalog's manager
        :returns: str, the JSON of ``CatalogDriverBase.get_v3_catalog``; None
            if the content cannot be kept
        :raises keystone.exception.ProjectNotFound: the project does not exist
            and nothing is kept for it
        """
        stamp = self._stamp(manager.driver)
        if stamp is None:
            return None
        kept = self._in_step(manager.driver, stamp)
        return kept.content and kept.text(user_id, project_id, manager)

    def _stamp(self, driver):
        """The current stamp; None if the content must not be kept."""
        if (
            CONF.catalog.in_process_size
            and CONF.catalog.caching
            and CONF.cache.enabled
            and self.bound > 0
            and reading.can_read(driver)
        ):
            manager = self.region.region_invalidator._region_manager
            stamp = manager.region_id
            # Without a cache, each request has another one.
            return stamp if manager.ids.is_known(manager.name) else None
        return None

    def _in_step(self, driver, stamp):
        kept = self._current(stamp, driver)
        if kept is None:
            with self._lock:
                kept = self._current(stamp, driver)
                if kept is None:
                    until = self._clock() + self.bound
                    self.kept = kept = Snapshot(driver, stamp, until)
        return kept

    def _current(self, stamp, driver=None):
        """What is kept, if it is current, and of the driver; or None."""
        kept = self.kept
        if (
            kept is not None
            and kept.driver is (driver or kept.driver)
            and kept.stamp == stamp
            and self._clock() < kept.until
        ):
            return kept
        return None


#: The content of this process, whose region is set by the decorator.
CONTENT = InProcess(None)
