# SPDX-License-Identifier: Apache-2.0

"""Lists of grants that tolerate concurrent deletions."""

import functools

from oslo_log import log

from keystone.common import provider_api
from keystone import exception

LOG = log.getLogger(__name__)
PROVIDERS = provider_api.ProviderAPIs

_GONE = (
    exception.DomainNotFound,
    exception.ProjectNotFound,
    exception.RoleNotFound,
)


def without_missing(add_names):
    """Decorate the method that adds names to a list of grants.

    It is called with one grant at a time; those on missing objects are left
    out.
    """

    @functools.wraps(add_names)
    def wrapper(self, grants):
        found = []
        for grant in grants:
            try:
                found.extend(add_names(self, [grant]))
            except _GONE as error:
                LOG.warning('Skipping a listed role assignment: %s', error)
        return found

    return wrapper


def get_project(project_id):
    """A project, or an empty dict if it does not exist."""
    try:
        return PROVIDERS.resource_api.get_project(project_id)
    except exception.ProjectNotFound:
        return {}
