# SPDX-License-Identifier: Apache-2.0

"""The catalog of any project as JSON, from a prepared template."""

import re
import secrets

from oslo_serialization import jsonutils

# What most URLs are: text, and ids.
_SIMPLE = re.compile(r'(?:[^%]|%\((?:project_id|tenant_id|user_id)\)s)*')

# Ids that JSON does not escape.
_PLAIN = re.compile(r'[\w-]+', re.ASCII)

# Placeholder that occurs nowhere else.
_MARK = secrets.token_hex(16)
_WRITTEN_MARK = jsonutils.dumps(_MARK)
_SEPARATOR = ', '


class ContentText:
    """The text of project catalogs.

    It is a template, as are its pieces, so that the ids of all URLs are
    substituted at once.

    :param services: list of :class:`~keystone.catalog.content.Service`
    """

    def __init__(self, services):
        self._services = [_Pieces(service) for service in services]
        self._all = self._join(None)

    @staticmethod
    def can_write(services):
        """Whether the text can be prepared: all URLs must be simple."""
        return all(
            endpoint.template is None or _SIMPLE.fullmatch(endpoint.template)
            for service in services
            for endpoint in service.endpoints
        )

    @property
    def size(self):
        """Estimated bytes of memory."""
        return 2 * len(self._all)

    def write(self, user_id, project_id, visible=None):
        """Write the catalog of a user and a project.

        :param visible: see :meth:`keystone.catalog.content.Content.catalog`
        :returns: str, the :meth:`~keystone.catalog.content.Content.catalog` as
            JSON; None if that must be encoded instead
        """
        if not (_PLAIN.fullmatch(user_id) and _PLAIN.fullmatch(project_id)):
            return None
        text = self._all if visible is None else self._join(visible)
        return text % {
            'user_id': user_id,
            'project_id': project_id,
            'tenant_id': project_id,
        }

    def _join(self, visible):
        pieces = (service.join(visible) for service in self._services)
        return f'[{_SEPARATOR.join(filter(None, pieces))}]'


class _Pieces:
    """The text of a service: before its endpoints, each of them, and after."""

    def __init__(self, service):
        shown = {'endpoints': _MARK, **service.fixed}
        self._around = _format(shown).split(_WRITTEN_MARK)
        self._endpoints = [(one.id, _of(one)) for one in service.endpoints]

    def join(self, visible):
        """The text of the service; None if no endpoint is visible."""
        endpoints = [
            text
            for endpoint_id, text in self._endpoints
            if visible is None or endpoint_id in visible
        ]
        if not endpoints and visible is not None:
            return None
        before, after = self._around
        return f'{before}[{_SEPARATOR.join(endpoints)}]{after}'


def _of(endpoint):
    if endpoint.template is None:
        return _format(endpoint.fixed)
    text = _format({**endpoint.fixed, 'url': _MARK})
    return text.replace(_WRITTEN_MARK, jsonutils.dumps(endpoint.template))


def _format(shown):
    return jsonutils.dumps(shown).replace('%', '%%')
