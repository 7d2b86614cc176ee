# SPDX-License-Identifier: Apache-2.0

"""In-memory copy of the catalog in each worker process.

The catalogs of users and projects are built from it. Each change of the
catalog changes the id of the region of computed catalogs after its commit. The
copy is read again when this id, the stamp, has changed, or when it reaches the
maximum age of computed catalogs.
"""

import collections
import functools
import sys
import threading
import time

from oslo_log import log

from keystone.catalog import answer_text
from keystone.catalog import memory
from keystone.catalog import reading
from keystone.common import after_fork
from keystone.common.cache import facts
from keystone.common import provider_api
import keystone.conf

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)
PROVIDERS = provider_api.ProviderAPIs

_MIB = 1024 * 1024
# Approximate size of an ordered dictionary entry in bytes.
_ENTRY = 160


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
        self.content = reading.read_content()
        self._has_filters = reading.has_filters()
        self._endpoints = None
        self._visible = collections.OrderedDict()
        self._lock = threading.Lock()
        #: Estimated bytes of memory.
        self.size = self.content.size
        self._shrink()

    @property
    def projects(self):
        """Number of projects whose visible endpoints are kept."""
        return len(self._visible)

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
                self._visible.move_to_end(project_id)
                return self._visible[project_id]
        if self._has_filters:
            visible = reading.read_visible(
                manager, project_id, self._all_endpoints()
            )
        else:
            PROVIDERS.resource_api.get_project(project_id)
            visible = None
        with self._lock:
            if project_id not in self._visible:
                self._visible[project_id] = visible
                self.size += _size(project_id, visible)
            self._shrink()
        return visible

    def _all_endpoints(self):
        endpoints = self._endpoints
        if endpoints is None:
            endpoints = reading.read_endpoints(self.driver)
            with self._lock:
                if self._endpoints is None:
                    self._endpoints = endpoints
                    self.size += memory.size_of(endpoints)
        return endpoints

    def _shrink(self):
        """Evict projects above the limit, or everything if needed."""
        most = CONF.catalog.in_process_size * _MIB
        while self._visible and self.size > most:
            self.size -= _size(*self._visible.popitem(last=False))
        if self.size > most:
            LOG.warning(
                'The catalog of about %(size)d bytes exceeds [catalog] '
                'in_process_size and is not kept in memory.',
                {'size': self.size},
            )
            self.content = None
            self._endpoints = None
            self.size = 0


def _size(project_id, visible):
    """Estimate the size of a project, without ids shared with others."""
    return _ENTRY + sys.getsizeof(project_id) + sys.getsizeof(visible)


class InProcess:
    """The catalog content of one process. Thread-safe.

    :param region: the cache region of computed catalogs
    :param clock: callable, returns monotonic seconds
    """

    def __init__(self, region, clock=time.monotonic):
        self._region = region
        self._clock = clock
        self._forget()
        after_fork.call(self._forget)

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
        if answer_text.is_wanted():
            text = content.text(user_id, project_id, visible)
            if text is not None:
                return answer_text.Text(text)
        return content.catalog(user_id, project_id, visible)

    def _stamp(self, driver):
        """The current stamp; None if the content must not be kept."""
        if (
            CONF.catalog.in_process_size
            and CONF.catalog.caching
            and CONF.cache.enabled
            and self.bound > 0
            and reading.can_read(driver)
        ):
            invalidator = self._region.region_invalidator
            return invalidator._region_manager.region_id
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
