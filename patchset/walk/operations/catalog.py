# SPDX-License-Identifier: Apache-2.0

"""Services, endpoints and the filters of them."""

from patchset.walk import names
from patchset.walk.story import NUMBER
from patchset.walk.story import changes
from patchset.walk.story import operation
from patchset.walk.story import pair

_INTERFACES = ('public', 'internal', 'admin')
_GROUPS = '/OS-EP-FILTER/endpoint_groups'


@operation('catalog', service=names.SERVICES)
def create_service(side, service):
    return side.make('service', service, name=service, type=f'type-{service}')


changes('catalog', 'service', names.SERVICES, rename=1, disable=1, enable=1)


@operation('catalog', 1, service=names.SERVICES)
def delete_service(side, service):
    path = f'/services/{side.id(service)}'
    own = [name for name, of in names.ENDPOINTS.items() if of == service]
    # Stock leaves them behind, and fails at them (topic service-deleted).
    for endpoint in own:
        if endpoint in side.ids:
            _remove_projects(side, side.id(endpoint))
    return side.remove(path, service, *own)


def _remove_projects(side, endpoint):
    found = side.ask('GET', f'/OS-EP-FILTER/endpoints/{endpoint}/projects')
    for project in found.body['projects']:
        path = f'projects/{project["id"]}/endpoints/{endpoint}'
        side.ask('DELETE', f'/OS-EP-FILTER/{path}')


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


changes('catalog', 'endpoint', names.ENDPOINTS, disable=1, enable=1, delete=1)


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


@pair(
    'catalog', {'add_endpoint_group': 2, 'remove_endpoint_group': 1},
    group=names.ENDPOINT_GROUPS, project=names.PROJECTS,
)  # fmt: skip
def _of_project(side, group, project):
    return f'{_GROUPS}/{side.id(group)}/projects/{side.id(project)}'


@pair(
    'catalog', {'add_endpoint': 2, 'remove_endpoint': 1},
    endpoint=names.ENDPOINTS, project=names.PROJECTS,
)  # fmt: skip
def _endpoint(side, endpoint, project):
    project, endpoint = side.id(project), side.id(endpoint)
    return f'/OS-EP-FILTER/projects/{project}/endpoints/{endpoint}'
