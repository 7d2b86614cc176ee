# SPDX-License-Identifier: Apache-2.0

"""Content of the catalog, from which user and project catalogs are built."""

import collections
import contextlib
import json
import re
import secrets
import sys

from oslo_serialization import jsonutils

from keystone.common import utils
import keystone.conf
from keystone import exception

CONF = keystone.conf.CONF

#: Unpredictable placeholder, so that it occurs nowhere else.
MARK = secrets.token_hex(16)
# Placeholders of ids in templates.
_USER, _PROJECT = secrets.token_hex(16), secrets.token_hex(16)
# What a URL may contain to be substituted in a template.
_PLAIN = re.compile(r'%%|%\(\w+\)s')


class Service:
    """An enabled service and its visible endpoints.

    :param fixed: dict, the service as in a response, without its endpoints
    """

    __slots__ = ('_parts', 'endpoints')

    def __init__(self, fixed):
        self._parts = parts({'endpoints': MARK, **fixed})
        self.endpoints = []

    def add(self, endpoint):
        """Add an enabled endpoint, unless it can never be visible.

        :param endpoint: dict, the endpoint as in a response, except for its
            URL, which is the stored one
        """
        if endpoint['url']:
            self.endpoints.append(Endpoint(endpoint))

    def text(self, values, visible):
        """The service as JSON; None if it is omitted.

        The arguments are those of :meth:`Endpoint.text`, and ``visible`` of
        :meth:`Content.text`.
        """
        texts = [
            endpoint.text(values)
            for endpoint in self.endpoints
            if visible is None or endpoint.id in visible
        ]
        texts = list(filter(None, texts))
        if not texts and visible is not None:
            return None
        before, after = self._parts
        return f'{before}[{", ".join(texts)}]{after}'


class Endpoint:
    """An enabled endpoint.

    :param fixed: dict, see :meth:`Service.add`
    """

    __slots__ = ('id', '_url', '_template', '_parts', '_reported', 'is_plain')

    def __init__(self, fixed):
        self.id = fixed['id']
        self._url = fixed['url']
        self._template = self._url.replace('$(', '%(')
        #: Whether no id is formatted, as by ``%(project_id).8s``.
        self.is_plain = _is_plain(self._template)
        self._parts = parts({**fixed, 'url': MARK})
        if '%' not in self._template:
            # A URL without substitutions is used as it is.
            self._parts = [json.dumps(self._template).join(self._parts)]
            self._template = None
        self._reported = ()

    def text(self, values):
        """The endpoint as JSON; None if it has no URL with these values.

        :param values: what may be substituted in URLs, by name
        """
        if self._template is None:
            return self._parts[0]
        try:
            url = self._template % values
        except (KeyError, TypeError, ValueError):
            self._report(values)
            return None
        return json.dumps(url).join(self._parts) if url else None

    def _report(self, values):
        """Log a malformed URL when it is first encountered."""
        silent = []
        try:
            values['project_id']
        except KeyError:
            silent = ['tenant_id', 'project_id']
        if bool(silent) not in self._reported:
            self._reported += (bool(silent),)
            with contextlib.suppress(exception.MalformedEndpoint):
                utils.format_url(self._url, values, silent)


def _is_plain(template):
    if '%' not in _PLAIN.sub('', template):
        return True
    try:
        template % collections.defaultdict(str)
    except (TypeError, ValueError) as error:
        # It may be malformed with any values, and is not shown then.
        return isinstance(error, ValueError)
    return False


class Content:
    """The complete visible catalog.

    :param services: list of :class:`Service`, in the order of responses
    """

    __slots__ = ('_services',)

    def __init__(self, services):
        self._services = services

    def text(self, user_id, project_id, visible=None):
        """The catalog of a user in a scope.

        :param user_id: substituted in URLs
        :param project_id: substituted in URLs; if None, endpoints whose URL
            contains it are omitted
        :param visible: ids of the endpoints visible to the project; services
            without any are omitted. None if all are visible.
        :returns: JSON of the list of ``CatalogDriverBase.get_v3_catalog``
        """
        values = {
            name: CONF[name]
            for name in utils.WHITELISTED_PROPERTIES
            if name in CONF
        }
        values['user_id'] = user_id
        if project_id:
            values['tenant_id'] = values['project_id'] = project_id
        allowed = utils.WhiteListedItemFilter(
            utils.WHITELISTED_PROPERTIES, values
        )
        texts = (service.text(allowed, visible) for service in self._services)
        return f'[{", ".join(filter(None, texts))}]'

    def template(self, has_project, visible=None):
        """The catalog of all users and projects, for :func:`fill`.

        :param has_project: False without a project
        :param visible: see :meth:`text`
        :returns: str; empty if the URL of an endpoint formats an id
        """
        plain = (e.is_plain for s in self._services for e in s.endpoints)
        if not all(plain):
            return ''
        return self.text(_USER, _PROJECT if has_project else None, visible)


def fill(template, user_id, project_id):
    """The catalog of a user in a scope, from a template.

    :returns: what :meth:`Content.text` returns
    """
    for mark, value in ((_USER, user_id), (_PROJECT, project_id)):
        if value:
            template = template.replace(mark, json.dumps(value)[1:-1])
    return template


def parts(shown):
    """The JSON of a dict before and after the value that is the mark.

    :returns: list of two str
    """
    return jsonutils.dumps(shown).split(f'"{MARK}"')


def size_of(value):
    """Estimate the size of a value and everything it contains, in bytes.

    Objects contained twice count twice.

    :param value: a :class:`Content`, or of the types that JSON has
    :returns: int
    """
    size = sys.getsizeof(value)
    if isinstance(value, dict):
        size += sum(size_of(key) + size_of(one) for key, one in value.items())
    elif isinstance(value, list):
        size += sum(map(size_of, value))
    elif isinstance(value, Content | Service | Endpoint):
        size += sum(size_of(getattr(value, name)) for name in value.__slots__)
    return size
