# SPDX-License-Identifier: Apache-2.0

"""Identity providers, mappings and protocols."""

from patchset.walk import steps

_BASE = '/OS-FEDERATION'
_PROVIDERS = f'{_BASE}/identity_providers'
_LOCAL = ('g1', 'g2', 'g3')
USER = 'HTTP_X_WALK_USER'  # of the WSGI environment, as a web server's module


def _rules(side, group):
    local = {'user': {'name': '{0}'}, 'group': {'id': side.id(group)}}
    return [{'local': [local], 'remote': [{'type': USER}]}]


@steps.operation('federation', 6, group=_LOCAL, minutes=('', '60'))
def create_provider(side, provider, group, minutes):
    """Create a provider whose users remain in groups for some minutes."""
    side.require_absent(provider)
    mapping = {'mapping': {'rules': _rules(side, group)}}
    values = {'enabled': True, 'domain_id': 'default'}
    if minutes:
        values['authorization_ttl'] = int(minutes)
    side.request('PUT', f'{_BASE}/mappings/{provider}', mapping)
    body = {'identity_provider': values}
    side.request('PUT', f'{_PROVIDERS}/{provider}', body)
    side.ids[provider] = provider
    return _add_protocol(side, provider)


@steps.operation('federation')
def add_protocol(side, provider):
    return _add_protocol(side, side.id(provider))


@steps.operation('federation', 1)
def delete_protocol(side, provider):
    return side.request('DELETE', _protocol(side.id(provider)))


@steps.operation('federation', 1)
def disable_provider(side, provider):
    return side.update(
        'identity_provider', provider, _PROVIDERS, enabled=False
    )


@steps.operation('federation', 3)
def enable_provider(side, provider):
    return side.update('identity_provider', provider, _PROVIDERS, enabled=True)


@steps.operation('federation', 2, group=_LOCAL)
def change_mapping(side, provider, group):
    rules = _rules(side, group)
    return side.update('mapping', provider, f'{_BASE}/mappings', rules=rules)


@steps.operation('federation', 1)
def delete_provider(side, provider):
    side.request('DELETE', _protocol(side.id(provider)))
    answer = side.delete(f'{_PROVIDERS}/{provider}', provider)
    side.request('DELETE', f'{_BASE}/mappings/{provider}')
    return answer


def _protocol(provider):
    return f'{_PROVIDERS}/{provider}/protocols/mapped'


def _add_protocol(side, provider):
    body = {'protocol': {'mapping_id': provider}}
    return side.request('PUT', _protocol(provider), body)
