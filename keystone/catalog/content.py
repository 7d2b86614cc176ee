# SPDX-License-Identifier: Apache-2.0

"""Content of the catalog, from which user and project catalogs are built."""

import json
import re
import secrets
import sys

from oslo_serialization import jsonutils

from keystone.common import utils
import keystone.conf
from keystone import exception

CONF = keystone.conf.CONF

# Placeholders of ids in templates, which occur nowhere else.
_USER, _PROJECT = secrets.token_hex(16), secrets.token_hex(16)
# What a URL may contain to be substituted in a template.
_PLAIN = re.compile(r'%%|%\(\w+\)s')


class Content:
    """The complete visible catalog.

    :param services: list of (enabled service, list of its enabled endpoints),
        dicts as in a response and in the same order, but without the endpoints
        in the services, and with the stored URLs. Malformed ones are omitted.
    """

    def __init__(self, services):
        # Of one character, for URLs with ``%(user_id)c``.
        values = _values('-', '-')
        #: As the argument.
        self.services = [
            (service, [e for e in endpoints if _url(e, values) is not None])
            for service, endpoints in services
        ]

    def text(self, user_id, project_id, visible=None):
        """The catalog of a user in a scope.

        :param user_id: substituted in URLs
        :param project_id: substituted in URLs; if None, endpoints whose URL
            contains it are omitted
        :param visible: ids of the endpoints visible to the project; services
            without any are omitted. None if all are visible.
        :returns: JSON of the list of ``CatalogDriverBase.get_v3_catalog``
        """
        values = _values(user_id, project_id)
        catalog = []
        for service, endpoints in self.services:
            shown = [
                {**endpoint, 'url': url}
                for endpoint in endpoints
                if visible is None or endpoint['id'] in visible
                if (url := _url(endpoint, values))
            ]
            if shown or visible is None:
                catalog.append({'endpoints': shown, **service})
        return jsonutils.dumps(catalog)

    def template(self, has_project, visible=None):
        """The catalog of all users and projects, for :func:`fill`.

        :param has_project: False without a project
        :param visible: see :meth:`text`
        :returns: str; empty if the URL of an endpoint formats an id, as by
            ``%(project_id).8s``
        """
        for _service, endpoints in self.services:
            urls = (one['url'].replace('$(', '%(') for one in endpoints)
            if any('%' in _PLAIN.sub('', url) for url in urls):
                return ''
        return self.text(_USER, _PROJECT if has_project else None, visible)


def _values(user_id, project_id):
    """What is substituted in URLs, by name."""
    values = {
        name: CONF[name]
        for name in utils.WHITELISTED_PROPERTIES
        if name in CONF
    }
    values['user_id'] = user_id
    if project_id:
        values['tenant_id'] = values['project_id'] = project_id
    return values


def _url(endpoint, values):
    """The URL of an endpoint; None if it has none with these values."""
    missing = {'tenant_id', 'project_id'}.difference(values)
    try:
        return utils.format_url(endpoint['url'], values, missing)
    except exception.MalformedEndpoint:
        return None  # It was logged.


def fill(template, user_id, project_id):
    """The catalog of a user in a scope, from a template.

    :returns: what :meth:`Content.text` returns
    """
    for mark, value in ((_USER, user_id), (_PROJECT, project_id)):
        if value:
            template = template.replace(mark, json.dumps(value)[1:-1])
    return template


def size_of(value, counted=None):
    """Estimate the size of a value and everything it contains, in bytes.

    :param value: of the types that JSON has, or tuples
    :param counted: set of the ids of objects that were counted, which is
        extended
    :returns: int
    """
    counted = set() if counted is None else counted
    if id(value) in counted:
        return 0
    counted.add(id(value))
    size = sys.getsizeof(value)
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple):
        size += sum(size_of(one, counted) for one in value)
    return size
