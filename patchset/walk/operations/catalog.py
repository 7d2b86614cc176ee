# SPDX-License-Identifier: Apache-2.0

"""Services, endpoints and the filters of them."""

from patchset.walk import names
from patchset.walk import steps

_GROUPS = '/OS-EP-FILTER/endpoint_groups'


steps.usual_operations(
    'catalog', 'service',
    lambda side, name: {'type': f'type-{name}'},
    create=2, rename=1, disable=1, enable=1,
)  # fmt: skip


@steps.operation('catalog', 1)
def delete_service(side, service):
    path = f'/services/{side.id(service)}'
    own = [name for name, of in names.ENDPOINTS.items() if of == service]
    # Stock leaves them behind, and fails at them (topic service-deleted).
    for endpoint in own:
        if endpoint in side.ids:
            _remove_projects(side, side.id(endpoint))
    return side.delete(path, service, *own)


def _remove_projects(side, endpoint):
    found = side.request('GET', f'/OS-EP-FILTER/endpoints/{endpoint}/projects')
    for project in found.body['projects']:
        path = f'projects/{project["id"]}/endpoints/{endpoint}'
        side.request('DELETE', f'/OS-EP-FILTER/{path}')


@steps.operation('catalog', 3)
def create_endpoint(side, endpoint, interface):
    service = side.id(names.ENDPOINTS[endpoint])
    return side.create(
        'endpoint', endpoint, service_id=service, interface=interface,
        url=f'http://{endpoint}/%(project_id)s', region='RegionOne',
    )  # fmt: skip


@steps.operation('catalog')
def move_endpoint(side, endpoint, number):
    return side.update('endpoint', endpoint, url=f'http://moved-{number}')


steps.usual_operations('catalog', 'endpoint', disable=1, enable=1, delete=1)


@steps.operation('catalog', group=names.ENDPOINT_GROUPS)
def create_endpoint_group(side, group, interface):
    return side.create(
        'endpoint_group', group, _GROUPS, name=group,
        filters={'interface': interface},
    )  # fmt: skip


@steps.operation('catalog', 1, group=names.ENDPOINT_GROUPS)
def change_endpoint_group(side, group, interface):
    filters = {'interface': interface}
    return side.update('endpoint_group', group, _GROUPS, filters=filters)


@steps.operation('catalog', 1, group=names.ENDPOINT_GROUPS)
def delete_endpoint_group(side, group):
    return side.delete(f'{_GROUPS}/{side.id(group)}', group)


@steps.put_and_delete(
    'catalog', {'add_endpoint_group': 2, 'remove_endpoint_group': 1},
    group=names.ENDPOINT_GROUPS,
)  # fmt: skip
def _of_project(side, group, project):
    return f'{_GROUPS}/{side.id(group)}/projects/{side.id(project)}'


@steps.put_and_delete('catalog', {'add_endpoint': 2, 'remove_endpoint': 1})
def _endpoint(side, endpoint, project):
    project, endpoint = side.id(project), side.id(endpoint)
    return f'/OS-EP-FILTER/projects/{project}/endpoints/{endpoint}'
