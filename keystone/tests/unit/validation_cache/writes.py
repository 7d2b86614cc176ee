# SPDX-License-Identifier: Apache-2.0

"""The write operations of the API, in an order in which each is possible."""

from typing import Any
from typing import NamedTuple

# What operations drop although it belongs to entities that they do not change.
# All computed assignments: users affected are not known without reading many.
_ROLES = frozenset(('computed assignments',))
# The catalog, which is the same for all projects.
_CATALOG = frozenset(('computed catalog region',))
# Part of each token.
_PROVIDERS = frozenset(('get_enabled_service_providers',))


class Write(NamedTuple):
    """A write operation.

    :ivar method: HTTP method
    :ivar path: with names of ids in braces, as in the routes
    :ivar body: JSON, with names of ids in braces
    :ivar drops: names of functions and regions whose values it drops although
        they belong to entities that it does not change
    :ivar more: arguments of the request
    """

    method: str
    path: str
    body: Any = None
    drops: frozenset[str] = frozenset()
    more: dict[str, Any] = {}


def _named(kind: str, **more: Any) -> dict[str, Any]:
    return {kind: {'name': f'new {kind}', **more}}


def _both(
    path: str, drops: frozenset[str] = frozenset(), body: Any = None
) -> list[Write]:
    """Create an association, and delete it."""
    return [
        Write('PUT', path, body, drops),
        Write('DELETE', path, drops=drops),
    ]


_CHANGE: dict[str, Any] = {'description': 'changed'}
_CONFIG = '/domains/{domain_id}/config'
_LDAP = {'config': {'ldap': {'url': 'ldap://localhost'}}}
_IDP = '/OS-FEDERATION/identity_providers/{idp_id}'
_PROTOCOL = f'{_IDP}/protocols/{{protocol_id}}'
_SP = '/OS-FEDERATION/service_providers/{service_provider_id}'
_SP_URLS = {'auth_url': 'https://a.example', 'sp_url': 'https://b.example'}
_RULES = {
    'mapping': {
        'rules': [
            {
                'local': [{'user': {'name': '{{0}}'}}],
                'remote': [{'type': 'REMOTE_USER'}],
            }
        ]
    }
}
_LIMIT = {'service_id': '{service_id}', 'resource_name': 'volumes'}

_CATALOG_WRITES = [
    Write('POST', '/regions', {'region': {}}, _CATALOG),
    Write('PATCH', '/regions/{region_id}', {'region': _CHANGE}, _CATALOG),
    Write('POST', '/services', _named('service', type='new'), _CATALOG),
    Write('PATCH', '/services/{service_id}', {'service': _CHANGE}, _CATALOG),
    Write(
        'POST', '/endpoints',
        {
            'endpoint': {
                'service_id': '{service_id}', 'interface': 'public',
                'url': 'https://example.org', 'region_id': '{region_id}',
            }
        },
        _CATALOG,
    ),
    Write(
        'PATCH', '/endpoints/{endpoint_id}',
        {'endpoint': {'url': 'https://example.com'}}, _CATALOG,
    ),
    Write(
        'POST', '/policies', {'policy': {'blob': '{{}}', 'type': 'text/plain'}}
    ),
    Write('PATCH', '/policies/{policy_id}', {'policy': {'blob': '{{}} '}}),
    *_both('/policies/{policy_id}/OS-ENDPOINT-POLICY/endpoints/{endpoint_id}'),
    *_both('/policies/{policy_id}/OS-ENDPOINT-POLICY/services/{service_id}'),
    *_both(
        '/policies/{policy_id}/OS-ENDPOINT-POLICY/services/{service_id}'
        '/regions/{region_id}'
    ),
    Write('DELETE', '/policies/{policy_id}'),
    Write(
        'POST', '/registered_limits',
        {'registered_limits': [{**_LIMIT, 'default_limit': 10}]},
    ),
    Write(
        'PATCH', '/registered_limits/{registered_limit_id}',
        {'registered_limit': {'default_limit': 20}},
    ),
    Write(
        'POST', '/limits',
        {
            'limits': [
                {
                    **_LIMIT, 'project_id': '{project_id}',
                    'resource_limit': 5,
                }
            ]
        },
    ),
    Write('PATCH', '/limits/{limit_id}', {'limit': {'resource_limit': 6}}),
    Write('DELETE', '/limits/{limit_id}'),
    Write('DELETE', '/registered_limits/{registered_limit_id}'),
    Write(
        'POST', '/OS-EP-FILTER/endpoint_groups',
        _named('endpoint_group', filters={'interface': 'admin'}),
    ),
    Write(
        'PATCH', '/OS-EP-FILTER/endpoint_groups/{endpoint_group_id}',
        {'endpoint_group': _CHANGE}, _CATALOG,
    ),
    *_both(
        '/OS-EP-FILTER/endpoint_groups/{endpoint_group_id}'
        '/projects/{project_id}',
        _CATALOG,
    ),
    Write(
        'DELETE', '/OS-EP-FILTER/endpoint_groups/{endpoint_group_id}',
        drops=_CATALOG,
    ),
    *_both(
        '/OS-EP-FILTER/projects/{project_id}/endpoints/{endpoint_id}', _CATALOG
    ),
    Write('DELETE', '/endpoints/{endpoint_id}', drops=_CATALOG),
    Write('DELETE', '/services/{service_id}', drops=_CATALOG),
    Write('DELETE', '/regions/{region_id}', drops=_CATALOG),
    Write('PUT', '/regions/{region_id}', {'region': {}}, _CATALOG),
]  # fmt: skip

_DELEGATIONS = [
    Write(
        'POST', '/OS-TRUST/trusts',
        {
            'trust': {
                'trustor_user_id': '{admin_id}',
                'trustee_user_id': '{user_id}',
                'project_id': '{admin_project_id}', 'impersonation': False,
                'roles': [{'id': '{admin_role_id}'}],
            }
        },
    ),
    Write('DELETE', '/OS-TRUST/trusts/{trust_id}'),
    Write(
        'POST', '/users/{admin_id}/application_credentials',
        _named(
            'application_credential',
            access_rules=[
                {'service': 'new', 'method': 'GET', 'path': '/v1/new'}
            ],
        ),
    ),
    Write(
        'DELETE',
        '/users/{admin_id}/application_credentials'
        '/{application_credential_id}',
    ),
    Write('DELETE', '/users/{admin_id}/access_rules/{access_rule_id}'),
    Write(
        'POST', '/users/{user_id}/credentials/OS-EC2',
        {'tenant_id': '{project_id}'},
    ),
    Write('DELETE', '/users/{user_id}/credentials/OS-EC2/{access}'),
    Write(
        'POST', '/credentials',
        {
            'credential': {
                'type': 'totp', 'blob': 'x', 'user_id': '{user_id}',
            }
        },
    ),
    Write(
        'PATCH', '/credentials/{credential_id}', {'credential': {'blob': 'y'}}
    ),
    Write('DELETE', '/credentials/{credential_id}'),
    Write('POST', '/OS-OAUTH1/consumers', {'consumer': _CHANGE}),
    Write(
        'PATCH', '/OS-OAUTH1/consumers/{consumer_id}', {'consumer': _CHANGE}
    ),
    Write(
        'PUT', '/OS-OAUTH1/authorize/{request_token_id}',
        {'roles': [{'id': '{admin_role_id}'}]},
    ),
    Write(
        'DELETE', '/users/{admin_id}/OS-OAUTH1/access_tokens/{access_token_id}'
    ),
    Write('DELETE', '/OS-OAUTH1/consumers/{consumer_id}'),
]  # fmt: skip

_FEDERATION = [
    Write(
        'PUT',
        _IDP,
        {'identity_provider': {'enabled': True, 'domain_id': '{domain_id}'}},
    ),
    Write('PATCH', _IDP, {'identity_provider': _CHANGE}),
    Write('PUT', '/OS-FEDERATION/mappings/{mapping_id}', _RULES),
    Write('PATCH', '/OS-FEDERATION/mappings/{mapping_id}', _RULES),
    Write('PUT', _PROTOCOL, {'protocol': {'mapping_id': '{mapping_id}'}}),
    Write('PATCH', _PROTOCOL, {'protocol': {'mapping_id': '{mapping_id}'}}),
    Write('DELETE', _PROTOCOL),
    Write('DELETE', '/OS-FEDERATION/mappings/{mapping_id}'),
    Write('DELETE', _IDP),
    Write('PUT', _SP, {'service_provider': _SP_URLS}, _PROVIDERS),
    Write('PATCH', _SP, {'service_provider': _CHANGE}, _PROVIDERS),
    Write('DELETE', _SP, drops=_PROVIDERS),
]

_GRANTS = [
    *_both('/projects/{project_id}/users/{user_id}/roles/{role_id}'),
    *_both('/projects/{project_id}/groups/{group_id}/roles/{role_id}'),
    *_both('/domains/{domain_id}/users/{user_id}/roles/{role_id}'),
    *_both('/domains/{domain_id}/groups/{group_id}/roles/{role_id}'),
    *_both('/system/users/{user_id}/roles/{role_id}'),
    *_both('/system/groups/{group_id}/roles/{role_id}'),
    *[
        write
        for target in ('domains/{domain_id}', 'projects/{project_id}')
        for holder in ('users/{user_id}', 'groups/{group_id}')
        for write in _both(
            f'/OS-INHERIT/{target}/{holder}/roles/{{role_id}}'
            '/inherited_to_projects'
        )
    ],
    *_both('/roles/{prior_role_id}/implies/{implied_role_id}', _ROLES),
]

WRITES = [
    Write('POST', '/domains', _named('domain')),
    Write('PATCH', '/domains/{domain_id}', {'domain': _CHANGE}),
    Write('PUT', _CONFIG, _LDAP),
    Write('PATCH', _CONFIG, _LDAP),
    Write('PATCH', f'{_CONFIG}/{{group}}', _LDAP),
    Write(
        'PATCH', f'{_CONFIG}/{{group}}/{{option}}',
        {'config': {'url': 'ldap://localhost'}},
    ),
    Write('DELETE', f'{_CONFIG}/{{group}}/{{option}}'),
    Write('PUT', _CONFIG, _LDAP),
    Write('DELETE', f'{_CONFIG}/{{group}}'),
    Write('DELETE', _CONFIG),
    Write('POST', '/roles', _named('role')),
    Write('PATCH', '/roles/{role_id}', {'role': _CHANGE}),
    Write('POST', '/projects', _named('project', domain_id='{domain_id}')),
    Write('PATCH', '/projects/{project_id}', {'project': _CHANGE}),
    Write('PUT', '/projects/{project_id}/tags', {'tags': ['a']}),
    Write('DELETE', '/projects/{project_id}/tags'),
    *_both('/projects/{project_id}/tags/{value}'),
    Write(
        'POST', '/users',
        _named('user', domain_id='{domain_id}', password='{password}'),
    ),
    Write('PATCH', '/users/{user_id}', {'user': _CHANGE}),
    Write(
        'POST', '/users/{user_id}/password',
        {'user': {'original_password': '{password}', 'password': 'changed'}},
        more={'noauth': True},
    ),
    Write('DELETE', '/users/{user_id}/tokens'),
    Write('POST', '/groups', _named('group', domain_id='{domain_id}')),
    Write('PATCH', '/groups/{group_id}', {'group': _CHANGE}),
    *_both('/groups/{group_id}/users/{user_id}'),
    Write('PUT', '/groups/{group_id}/users/{user_id}'),
    *_GRANTS,
    *_CATALOG_WRITES,
    *_DELEGATIONS,
    *_FEDERATION,
    Write('DELETE', '/groups/{group_id}'),
    Write('PATCH', '/users/{user_id}', {'user': {'enabled': False}}),
    Write('DELETE', '/users/{user_id}'),
    Write('PATCH', '/projects/{project_id}', {'project': {'enabled': False}}),
    Write('DELETE', '/projects/{project_id}'),
    Write('DELETE', '/roles/{role_id}'),
    Write('PATCH', '/domains/{domain_id}', {'domain': {'enabled': False}}),
    Write('DELETE', '/domains/{domain_id}'),
]  # fmt: skip
