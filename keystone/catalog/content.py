# SPDX-License-Identifier: Apache-2.0

"""Content of the catalog, from which user and project catalogs are built."""

import contextlib
import copy

from keystone.catalog import content_text
from keystone.catalog import memory
from keystone.common import utils
import keystone.conf
from keystone import exception

CONF = keystone.conf.CONF


class Service:
    """An enabled service and its visible endpoints.

    :param fixed: dict, the service as in a response, without its endpoints
    """

    def __init__(self, fixed):
        self.fixed = fixed
        self.endpoints = []

    def add(self, endpoint):
        """Add an enabled endpoint, unless it can never be visible.

        :param endpoint: dict, the endpoint as in a response, except for its
            URL, which is the stored one
        """
        if endpoint['url']:
            self.endpoints.append(Endpoint(endpoint))

    @property
    def size(self):
        """Estimated bytes of memory."""
        size = memory.size_of(self.fixed) + memory.size_of([])
        return size + sum(endpoint.size for endpoint in self.endpoints)


class Endpoint:
    """An enabled endpoint.

    :param fixed: dict, see :meth:`Service.add`
    """

    __slots__ = ('fixed', 'id', 'template', '_copy')

    def __init__(self, fixed):
        self.fixed = fixed
        self.id = fixed['id']
        template = fixed['url'].replace('$(', '%(')
        # A URL without substitutions is used as it is.
        self.template = template if '%' in template else None
        nested = any(isinstance(v, (dict, list)) for v in fixed.values())
        self._copy = copy.deepcopy if nested else dict.copy

    @property
    def size(self):
        """Estimated bytes of memory."""
        own = memory.size_of(self) + memory.size_of(self.template)
        return own + memory.size_of(self.fixed)

    def at(self, url):
        """The endpoint of a response, which the caller may modify.

        :param url: the URL after substitution; None if there is nothing to
            substitute
        """
        endpoint = self._copy(self.fixed)
        if url is not None:
            endpoint['url'] = url
        return endpoint


class Content:
    """The complete visible catalog.

    :param services: list of :class:`Service`, in the order of responses
    """

    def __init__(self, services):
        self._services = services
        self._told = set()
        self._text = None
        if content_text.ContentText.can_write(services):
            self._text = content_text.ContentText(services)
        #: Estimated bytes of memory.
        self.size = sum(service.size for service in services)
        if self._text is not None:
            self.size += self._text.size

    def catalog(self, user_id, project_id, visible=None):
        """The catalog of a user in a scope.

        :param user_id: substituted in URLs
        :param project_id: substituted in URLs; if None, endpoints whose URL
            contains it are omitted
        :param visible: ids of the endpoints visible to the project; services
            without any are omitted. None if all are visible.
        :returns: a new list of dicts, in the form of
            ``CatalogDriverBase.get_v3_catalog``
        """
        values = self._substitutions(user_id, project_id)
        allowed = utils.WhiteListedItemFilter(
            utils.WHITELISTED_PROPERTIES, values
        )
        found = []
        for service in self._services:
            endpoints = []
            for endpoint in service.endpoints:
                if visible is not None and endpoint.id not in visible:
                    continue
                url = endpoint.template
                if url is not None:
                    try:
                        url = url % allowed
                    except (KeyError, TypeError, ValueError):
                        self._tell(endpoint, values)
                        continue
                    if not url:
                        continue
                endpoints.append(endpoint.at(url))
            if endpoints or visible is None:
                found.append({'endpoints': endpoints, **service.fixed})
        return found

    def text(self, user_id, project_id, visible=None):
        """The catalog of a user in a scope, as JSON.

        The arguments are those of :meth:`catalog`.

        :returns: str; None if the catalog must be encoded instead
        """
        if self._text is None or not project_id:
            return None
        return self._text.write(user_id, project_id, visible)

    def _substitutions(self, user_id, project_id):
        values = {
            name: CONF[name]
            for name in utils.WHITELISTED_PROPERTIES
            if name in CONF
        }
        values['user_id'] = user_id
        if project_id:
            values['tenant_id'] = values['project_id'] = project_id
        return values

    def _tell(self, endpoint, values):
        """Log a malformed URL when it is first encountered."""
        scoped = 'project_id' in values
        if (endpoint.id, scoped) not in self._told:
            self._told.add((endpoint.id, scoped))
            silent = [] if scoped else ['tenant_id', 'project_id']
            with contextlib.suppress(exception.MalformedEndpoint):
                utils.format_url(endpoint.fixed['url'], values, silent)
