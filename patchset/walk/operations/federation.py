# SPDX-License-Identifier: Apache-2.0

"""Identity providers, mappings and protocols."""

from patchset.walk import steps

_BASE = '/OS-FEDERATION'
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
    answers = [
        side.request('PUT', f'{_BASE}/mappings/{provider}', mapping),
        side.request(
            'PUT',
            f'{_BASE}/identity_providers/{provider}',
            {'identity_provider': values},
        ),
        _add_protocol(side, provider),
    ]
    side.ids[provider] = provider
    return answers[-1]


@steps.operation('federation')
def add_protocol(side, provider):
    return _add_protocol(side, side.id(provider))


@steps.operation('federation', 1)
def delete_protocol(side, provider):
    return side.request('DELETE', _protocol(side.id(provider)))


@steps.operation('federation', 1)
def disable_provider(side, provider):
    return _switch(side, provider, False)


@steps.operation('federation', 3)
def enable_provider(side, provider):
    return _switch(side, provider, True)


@steps.operation('federation', 2, group=_LOCAL)
def change_mapping(side, provider, group):
    path = f'{_BASE}/mappings/{side.id(provider)}'
    body = {'mapping': {'rules': _rules(side, group)}}
    return side.request('PATCH', path, body)


@steps.operation('federation', 1)
def delete_provider(side, provider):
    side.request('DELETE', _protocol(side.id(provider)))
    answer = side.delete(f'{_BASE}/identity_providers/{provider}', provider)
    side.request('DELETE', f'{_BASE}/mappings/{provider}')
    return answer


def _protocol(provider):
    return f'{_BASE}/identity_providers/{provider}/protocols/mapped'


def _add_protocol(side, provider):
    body = {'protocol': {'mapping_id': provider}}
    return side.request('PUT', _protocol(provider), body)


def _switch(side, provider, enabled):
    path = f'{_BASE}/identity_providers/{side.id(provider)}'
    return side.request(
        'PATCH', path, {'identity_provider': {'enabled': enabled}}
    )
