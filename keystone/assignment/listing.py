# SPDX-License-Identifier: Apache-2.0

"""Lists of grants that tolerate concurrent deletions."""

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


def with_names(name, grants):
    """Add names to grants, except for those on missing objects.

    :param name: callable that takes a list of grants, and returns one with
        names
    :param grants: list of dicts, as the driver returns them
    :returns: list of dicts
    """
    found = []
    for grant in grants:
        try:
            found.extend(name([grant]))
        except _GONE as error:
            LOG.warning('Skipping a listed role assignment: %s', error)
    return found


def domain_of(project_id):
    """Id of a project's domain; None if the project does not exist."""
    try:
        return PROVIDERS.resource_api.get_project(project_id)['domain_id']
    except exception.ProjectNotFound:
        return None
