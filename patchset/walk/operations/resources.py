# SPDX-License-Identifier: Apache-2.0

"""Domains and projects."""

from patchset.walk import names
from patchset.walk.story import NUMBER
from patchset.walk.story import changes
from patchset.walk.story import operation


@operation('domains', domain=names.DOMAINS)
def create_domain(side, domain):
    return side.make('domain', domain, name=domain)


changes('domains', 'domain', names.DOMAINS, rename=2, disable=1, enable=5)


@operation('domains', 1, domain=names.DOMAINS, number=NUMBER)
def rename_domain_as_project(side, domain, number):
    path = f'/projects/{side.id(domain)}'
    body = {'project': {'name': f'{domain}-{number}'}}
    return side.ask('PATCH', path, body)


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


changes(
    'projects', 'project', names.PROJECTS,
    rename=2, disable=2, enable=6, delete=1,
)  # fmt: skip


@operation('projects', project=names.PROJECTS, number=NUMBER)
def tag_project(side, project, number):
    return side.ask('PUT', f'/projects/{side.id(project)}/tags/tag-{number}')
