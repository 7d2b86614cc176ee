# SPDX-License-Identifier: Apache-2.0

"""Domains and projects."""

from patchset.walk import names
from patchset.walk import steps

steps.usual_operations(
    'domains', 'domain',
    create=2, rename=2, disable=1, enable=5,
)  # fmt: skip


@steps.operation('domains', 1)
def rename_domain_as_project(side, domain, number):
    return side.update('project', domain, name=f'{domain}-{number}')


@steps.operation('domains', 2)
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


def _place(side, project):
    domain, parent = names.PROJECTS[project]
    return {
        'domain_id': side.id(domain),
        'parent_id': side.id(parent) if parent else None,
    }


steps.usual_operations(
    'projects', 'project', _place,
    create=3, rename=2, disable=2, enable=6, delete=1,
)  # fmt: skip


@steps.operation('projects')
def tag_project(side, project, number):
    return side.request(
        'PUT', f'/projects/{side.id(project)}/tags/tag-{number}'
    )
