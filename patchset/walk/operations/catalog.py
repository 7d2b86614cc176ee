# SPDX-License-Identifier: Apache-2.0

"""Services, endpoints and the filters of them."""

from patchset.walk import names
from patchset.walk.story import NUMBER
from patchset.walk.story import operation

_INTERFACES = ('public', 'internal', 'admin')
_GROUPS = '/OS-EP-FILTER/endpoint_groups'


@operation('catalog', service=names.SERVICES)
def create_service(side, service):
    return side.make('service', service, name=service, type=f'type-{service}')


@operation('catalog', 1, service=names.SERVICES, number=NUMBER)
def rename_service(side, service, number):
    return side.change('service', service, name=f'{service}-{number}')


@operation('catalog', 1, service=names.SERVICES, enabled=('', 'yes'))
def switch_service(side, service, enabled):
    return side.change('service', service, enabled=bool(enabled))


@operation('catalog', 1, service=names.SERVICES)
def delete_service(side, service):
    own = [name for name, of in names.ENDPOINTS.items() if of == service]
    return side.remove(f'/services/{side.id(service)}', service, *own)


@operation('catalog', 3, endpoint=names.ENDPOINTS, interface=_INTERFACES)
def create_endpoint(side, endpoint, interface):
    service = side.id(names.ENDPOINTS[endpoint])
    return side.make(
        'endpoint', endpoint, service_id=service, interface=interface,
        url=f'http://{endpoint}/%(project_id)s', region='RegionOne',
    )  # fmt: skip


@operation('catalog', endpoint=names.ENDPOINTS, number=NUMBER)
def move_endpoint(side, endpoint, number):
    return side.change('endpoint', endpoint, url=f'http://moved-{number}')


@operation('catalog', 1, endpoint=names.ENDPOINTS, enabled=('', 'yes'))
def switch_endpoint(side, endpoint, enabled):
    return side.change('endpoint', endpoint, enabled=bool(enabled))


@operation('catalog', 1, endpoint=names.ENDPOINTS)
def delete_endpoint(side, endpoint):
    return side.remove(f'/endpoints/{side.id(endpoint)}', endpoint)


@operation('catalog', group=names.ENDPOINT_GROUPS, interface=_INTERFACES)
def create_endpoint_group(side, group, interface):
    return side.make(
        'endpoint_group', group, _GROUPS, name=group,
        filters={'interface': interface},
    )  # fmt: skip


@operation('catalog', 1, group=names.ENDPOINT_GROUPS, interface=_INTERFACES)
def change_endpoint_group(side, group, interface):
    filters = {'interface': interface}
    return side.change('endpoint_group', group, _GROUPS, filters=filters)


@operation('catalog', 1, group=names.ENDPOINT_GROUPS)
def delete_endpoint_group(side, group):
    return side.remove(f'{_GROUPS}/{side.id(group)}', group)


@operation('catalog', group=names.ENDPOINT_GROUPS, project=names.PROJECTS)
def add_endpoint_group(side, group, project):
    return side.ask('PUT', _of_project(side, group, project))


@operation('catalog', 1, group=names.ENDPOINT_GROUPS, project=names.PROJECTS)
def remove_endpoint_group(side, group, project):
    return side.ask('DELETE', _of_project(side, group, project))


@operation('catalog', endpoint=names.ENDPOINTS, project=names.PROJECTS)
def add_endpoint(side, endpoint, project):
    return side.ask('PUT', _endpoint(side, endpoint, project))


@operation('catalog', 1, endpoint=names.ENDPOINTS, project=names.PROJECTS)
def remove_endpoint(side, endpoint, project):
    return side.ask('DELETE', _endpoint(side, endpoint, project))


def _of_project(side, group, project):
    return f'{_GROUPS}/{side.id(group)}/projects/{side.id(project)}'


def _endpoint(side, endpoint, project):
    project, endpoint = side.id(project), side.id(endpoint)
    return f'/OS-EP-FILTER/projects/{project}/endpoints/{endpoint}'
