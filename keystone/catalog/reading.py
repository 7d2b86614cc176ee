# SPDX-License-Identifier: Apache-2.0

"""Reads the tables of the SQL catalog driver."""

import sqlalchemy

from keystone.catalog import content
from keystone.common import sql

_DRIVER = ('keystone.catalog.backends.sql', 'Catalog')


def can_read(driver):
    """Whether the catalogs of a driver can be built from its tables.

    :param driver: the ``[catalog] driver``. A subclass of the SQL driver may
        build catalogs differently.
    """
    cls = type(driver)
    return (cls.__module__, cls.__qualname__) == _DRIVER


def _table(name):
    return sql.ModelBase.metadata.tables[name]


def read_content():
    """Read the enabled services and endpoints, in one query.

    :returns: a :class:`~keystone.catalog.content.Content`, in the order of
        the database rows, as in the results of the driver
    """
    service, endpoint = _table('service'), _table('endpoint')
    query = (
        sqlalchemy.select(
            service.c.id.label('of_id'),
            service.c.type.label('of_type'),
            service.c.extra.label('of_extra'),
            *endpoint.c,
        )
        .select_from(
            service.outerjoin(endpoint, service.c.id == endpoint.c.service_id)
        )
        .where(service.c.enabled == sqlalchemy.true())
    )
    services = {}
    with sql.session_for_read() as session:
        for row in session.execute(query):
            if row.of_id not in services:
                name = (row.of_extra or {}).get('name', '')
                service = {'id': row.of_id, 'type': row.of_type, 'name': name}
                services[row.of_id] = service, []
            if row.enabled and row.url:
                services[row.of_id][1].append(_endpoint(row))
    return content.Content(list(services.values()))


def _endpoint(row):
    extra = dict(row.extra or {})
    for hidden in ('service_id', 'legacy_endpoint_id', 'enabled'):
        extra.pop(hidden, None)
    shown = {
        name: getattr(row, name)
        for name in ('id', 'interface', 'region_id', 'url')
    }
    return {**extra, **shown, 'region': row.region_id}


def has_filters():
    """Whether any project is associated with an endpoint or a group."""
    query = sqlalchemy.select(
        *(
            sqlalchemy.exists(sqlalchemy.select(_table(name)))
            for name in ('project_endpoint', 'project_endpoint_group')
        )
    )
    with sql.session_for_read() as session:
        return any(session.execute(query).one())


def read_visible(manager, project_id, endpoints):
    """Read the endpoints visible to a project.

    :param manager: the catalog's manager
    :param endpoints: all of the driver, including disabled ones
    :returns: set of ids, some of which may be disabled; None if the project
        is associated with no endpoint
    """
    associated = {
        ref['endpoint_id']
        for ref in manager.driver.list_endpoints_for_project(project_id)
    }
    groups = manager.get_endpoint_groups_for_project(project_id)
    # Associated endpoints may be deleted along with a service.
    visible = {
        endpoint['id']
        for endpoint in endpoints
        if endpoint['id'] in associated
        or any(_matches(endpoint, group['filters']) for group in groups)
    }
    return visible or None


def _matches(endpoint, filters):
    return all(endpoint[key] == value for key, value in filters.items())
