# SPDX-License-Identifier: Apache-2.0

"""Domains and projects."""

from patchset.walk import names
from patchset.walk.story import NUMBER
from patchset.walk.story import operation


@operation('domains', domain=names.DOMAINS)
def create_domain(side, domain):
    return side.make('domain', domain, name=domain)


@operation('domains', domain=names.DOMAINS, number=NUMBER)
def rename_domain(side, domain, number):
    return side.change('domain', domain, name=f'{domain}-{number}')


@operation('domains', 1, domain=names.DOMAINS, number=NUMBER)
def rename_domain_as_project(side, domain, number):
    path = f'/projects/{side.id(domain)}'
    body = {'project': {'name': f'{domain}-{number}'}}
    return side.ask('PATCH', path, body)


@operation('domains', 1, domain=names.DOMAINS)
def disable_domain(side, domain):
    return side.change('domain', domain, enabled=False)


@operation('domains', 5, domain=names.DOMAINS)
def enable_domain(side, domain):
    return side.change('domain', domain, enabled=True)


@operation('domains', 2, domain=names.DOMAINS)
def delete_domain(side, domain):
    # What is in it goes with it.
    inside = [
        name
        for kind in (names.USERS, names.GROUPS)
        for name, own in kind.items()
        if own == domain
    ]
    inside += [
        name for name, (own, _) in names.PROJECTS.items() if own == domain
    ]
    return side.remove(f'/domains/{side.id(domain)}', domain, *inside)


@operation('projects', 3, project=names.PROJECTS)
def create_project(side, project):
    domain, parent = names.PROJECTS[project]
    return side.make(
        'project', project, name=project, domain_id=side.id(domain),
        parent_id=side.id(parent) if parent else None,
    )  # fmt: skip


@operation('projects', project=names.PROJECTS, number=NUMBER)
def rename_project(side, project, number):
    return side.change('project', project, name=f'{project}-{number}')


@operation('projects', project=names.PROJECTS, number=NUMBER)
def tag_project(side, project, number):
    return side.ask('PUT', f'/projects/{side.id(project)}/tags/tag-{number}')


@operation('projects', 2, project=names.PROJECTS)
def disable_project(side, project):
    return side.change('project', project, enabled=False)


@operation('projects', 6, project=names.PROJECTS)
def enable_project(side, project):
    return side.change('project', project, enabled=True)


@operation('projects', 1, project=names.PROJECTS)
def delete_project(side, project):
    return side.remove(f'/projects/{side.id(project)}', project)
