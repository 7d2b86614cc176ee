# SPDX-License-Identifier: Apache-2.0

"""Domains and projects."""

from patchset.walk import names
from patchset.walk.steps import NUMBER
from patchset.walk.steps import operation
from patchset.walk.steps import update_operations


@operation('domains', domain=names.DOMAINS)
def create_domain(side, domain):
    return side.create('domain', domain, name=domain)


update_operations(
    'domains', 'domain', names.DOMAINS, rename=2, disable=1, enable=5
)


@operation('domains', 1, domain=names.DOMAINS, number=NUMBER)
def rename_domain_as_project(side, domain, number):
    path = f'/projects/{side.id(domain)}'
    body = {'project': {'name': f'{domain}-{number}'}}
    return side.request('PATCH', path, body)


@operation('domains', 2, domain=names.DOMAINS)
def delete_domain(side, domain):
    # Its resources are deleted with it.
    contents = [
        name
        for kind in (names.USERS, names.GROUPS)
        for name, own in kind.items()
        if own == domain
    ]
    contents += [
        name for name, (own, _) in names.PROJECTS.items() if own == domain
    ]
    return side.delete(f'/domains/{side.id(domain)}', domain, *contents)


@operation('projects', 3, project=names.PROJECTS)
def create_project(side, project):
    domain, parent = names.PROJECTS[project]
    return side.create(
        'project', project, name=project, domain_id=side.id(domain),
        parent_id=side.id(parent) if parent else None,
    )  # fmt: skip


update_operations(
    'projects', 'project', names.PROJECTS,
    rename=2, disable=2, enable=6, delete=1,
)  # fmt: skip


@operation('projects', project=names.PROJECTS, number=NUMBER)
def tag_project(side, project, number):
    return side.request(
        'PUT', f'/projects/{side.id(project)}/tags/tag-{number}'
    )
