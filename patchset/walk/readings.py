# SPDX-License-Identifier: Apache-2.0

"""Requests that read tokens or resources, whose values are cached as well."""

import dataclasses
import re

from patchset.walk import names
from patchset.walk import steps
from patchset.walk.names import ADMIN

_NAME = re.compile(r'\{(\w+)\}')
# By the owner of a token, about itself.
_OWN = (
    '/auth/projects', '/auth/domains', '/auth/system', '/auth/catalog',
    '/OS-FEDERATION/projects', '/OS-FEDERATION/domains',
)  # fmt: skip
# By the admin. A name in braces is one of the walk's, of that kind.
_RESOURCES = (
    '/users/{user}', '/users/{user}/projects', '/users/{user}/groups',
    '/users/{user}/application_credentials',
    '/users/{user}/credentials/OS-EC2',
    '/users/{user}/OS-OAUTH1/access_tokens',
    '/credentials?user_id={user}',
    '/OS-TRUST/trusts?trustor_user_id={user}',
    '/OS-TRUST/trusts/{trust}', '/OS-TRUST/trusts/{trust}/roles',
    '/groups/{group}', '/groups/{group}/users',
    '/projects/{project}?parents_as_list&subtree_as_list',
    '/projects?domain_id={domain}', '/domains/{domain}',
    '/roles/{role}', '/roles/{role}/implies', '/role_inferences',
    '/role_assignments?user.id={user}&effective',
    '/role_assignments?user.id={user}&include_names',
    '/role_assignments?group.id={group}&effective',
    '/role_assignments?scope.project.id={project}&effective',
    '/role_assignments?scope.domain.id={domain}&effective',
    '/role_assignments?scope.system=all&effective',
    '/role_assignments?role.id={role}',
    '/projects/{project}/users/{user}/roles',
    '/projects/{project}/groups/{group}/roles',
    '/projects/{project}/users/{user}/roles/{role}',
    '/domains/{domain}/users/{user}/roles',
    '/domains/{domain}/groups/{group}/roles',
    '/OS-INHERIT/domains/{domain}/users/{user}/roles/inherited_to_projects',
    '/system/users/{user}/roles', '/system/groups/{group}/roles',
    '/services', '/endpoints', '/regions', '/endpoints?service_id={service}',
    '/OS-EP-FILTER/projects/{project}/endpoints',
    '/OS-EP-FILTER/projects/{project}/endpoint_groups',
    '/OS-EP-FILTER/endpoint_groups',
    '/OS-FEDERATION/identity_providers', '/OS-OAUTH1/consumers',
)  # fmt: skip
_CHOICES = {
    **steps.CHOICES,
    'domain': (*names.DOMAINS, names.DEFAULT),
    'role': (*names.ROLES, *names.BUILT_IN),
}


@dataclasses.dataclass(frozen=True)
class Request:
    """A request that reads resources, or validates a token.

    :param path: with names of resources in braces
    :param caller: name of the token of the caller
    :param subject: name of the token to validate; None reads resources
    :param headers: further headers, a tuple of pairs
    :param method: GET or HEAD
    :ivar is_exact: as for :func:`patchset.walk.answers.on_one_cloud`
    """

    path: str
    caller: str = ADMIN
    subject: str | None = None
    headers: tuple = ()
    method: str = 'GET'
    is_exact = True

    @property
    def names(self):
        """Names of its tokens: a set."""
        return {self.caller, self.subject} - {None}

    def __str__(self):
        subject = f' of {self.subject}' if self.subject else ''
        return f'{self.method} {self.path}{subject} by {self.caller}'

    def send(self, server, side):
        """The response of a server, or None without a token or a name."""
        if self.names - side.tokens.keys():
            return None
        if set(_NAME.findall(self.path)) - side.ids.keys():
            return None
        path = _NAME.sub(lambda match: side.ids[match[1]], self.path)
        headers = dict(self.headers)
        if self.subject:
            headers['X-Subject-Token'] = side.token(self.subject)
        return server.ask(
            self.method, path, side.token(self.caller), headers=headers
        )


def some(random, tokens, number):
    """Some requests, chosen at random: a list.

    :param random: a :class:`random.Random`
    :param tokens: names of tokens: a list, not empty
    :param number: how many requests are by the admin, and by the owners each
    """

    def choose(match):
        return f'{{{random.choice(list(_CHOICES[match[1]]))}}}'

    own = [random.choices(values, k=number) for values in (_OWN, tokens)]
    paths = random.choices(_RESOURCES, k=number)
    return [
        *(Request(path, token) for path, token in zip(*own, strict=True)),
        *(Request(_NAME.sub(choose, path)) for path in paths),
    ]
