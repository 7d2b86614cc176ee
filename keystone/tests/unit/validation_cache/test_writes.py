# SPDX-License-Identifier: Apache-2.0

import re
import uuid

from keystone.common.cache import regions
from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.ksfixtures import shared_cache
from keystone.tests.unit.validation_cache import base
from keystone.tests.unit.validation_cache import writes

PROVIDERS = provider_api.ProviderAPIs

_WRITING = {'POST', 'PUT', 'PATCH', 'DELETE'}
# The region id of the revocation events, which are compared one by one.
_EVENTS = {'revoke'}

# Logins, which change nothing that is cached, or something of the same user;
# and methods that are not allowed for some paths of a resource.
_NOT_WRITES = re.compile(
    '.*(/auth/|/OS-OAUTH2/token|/(ec2|s3)tokens|/OS-OAUTH1/(access|request)'
    '_token$|/protocols/{}/auth)'
    '|(PUT|PATCH|DELETE) .*/(mappings|consumers|policies|regions)$'
    '|POST .*/(consumers|policies|regions)/{}$'
)


class WriteTests(base.ValidationCacheTestCase):
    """What is cached of an entity that a write does not change."""

    def setUp(self):
        super().setUp()
        self.ids = {
            'admin_id': self.user_id,
            'admin_project_id': self.project_id,
            'admin_role_id': self.role_id,
            'password': uuid.uuid4().hex,
            'group': 'ldap',
            'option': 'url',
            'value': 'tag',
        }
        for name in (
            'idp_id', 'protocol_id', 'mapping_id', 'service_provider_id',
        ):  # fmt: skip
            self.ids[name] = f'new-{name}'
        for name in ('prior_role_id', 'implied_role_id'):
            role = unit.new_role_ref()
            self.ids[name] = role['id']
            PROVIDERS.role_api.create_role(role['id'], role)
        self.tokens = self.issue_to_bystander()

    def issue_to_bystander(self):
        """The tokens of a user who has nothing to do with any write."""
        user = unit.create_user(PROVIDERS.identity_api, self.domain_id)
        group = PROVIDERS.identity_api.create_group(
            unit.new_group_ref(self.domain_id)
        )
        PROVIDERS.identity_api.add_user_to_group(user['id'], group['id'])
        grant = PROVIDERS.assignment_api.create_grant
        for holder in ({'user_id': user['id']}, {'group_id': group['id']}):
            grant(self.role_id, project_id=self.project_id, **holder)
            grant(self.role_id, domain_id=self.domain_id, **holder)
        PROVIDERS.assignment_api.create_system_grant_for_user(
            user['id'], self.role_id
        )
        _, of_trust = self.issue_for_trust(user)
        return [of_trust] + [
            self.get_requested_token(
                self.build_authentication_request(
                    user_id=user['id'], password=user['password'], **scope
                )
            )
            for scope in (
                {},
                {'project_id': self.project_id},
                {'domain_id': self.domain_id},
                {'system': True},
            )
        ]

    def cached(self):
        """What is cached of the bystander: values by key in the cache."""
        shared_cache.SharedMemory.values.clear()
        shared_cache.forget_records()
        for token in self.tokens:
            self.ask(token)
        return shared_cache.SharedMemory.values.copy()

    def dropped(self, before):
        """The names of functions and regions whose values were dropped."""
        after, found = shared_cache.SharedMemory.values, set()
        for key, stored in before.items():
            if key.startswith(regions.PREFIX):
                name = key.removeprefix(regions.PREFIX)
                is_same = _base_of(after[key]) == _base_of(stored)
            else:
                name = key.partition('|')[0].rpartition(':')[2]
                is_same = after.get(key) == stored
            if not is_same:
                found.add(name)
        return found - _EVENTS

    def write(self, write):
        path = write.path.format(**self.ids)
        answer = self.v3_request(
            method=write.method,
            path=path,
            body=_filled(write.body, self.ids),
            token=self.token,
            expected_status='*',
            **write.more,
        )
        self.assertLess(answer.status_int, 300, (write, answer.text))
        if write.method == 'POST' and answer.body:
            self.remember(answer.result)

    def remember(self, result):
        (kind, created), *_ = result.items()
        if isinstance(created, list):
            kind, (created,) = kind.removesuffix('s'), created
        self.ids[f'{kind}_id'] = created.get('id')
        self.ids['access'] = created.get('access')
        for rule in created.get('access_rules') or ():
            self.ids['access_rule_id'] = rule['id']
        if kind == 'consumer':
            self.delegate_to_consumer()

    def delegate_to_consumer(self):
        api = PROVIDERS.oauth_api
        for name in ('request_token_id', 'access_token_id'):
            request = api.create_request_token(
                self.ids['consumer_id'], self.project_id, 0
            )
            self.ids[name] = request['id']
        api.authorize_request_token(
            request['id'], self.user_id, [self.role_id]
        )
        access_token = api.create_access_token(request['id'], 0)
        self.ids['access_token_id'] = access_token['id']

    def served(self):
        """The write operations of this release, without names of ids."""
        return {
            _nameless(f'{method} {rule.rule}')
            for rule in self.public_app.app.url_map.iter_rules()
            for method in rule.methods & _WRITING
        }

    def test_what_others_lose(self):
        before, unexpected, served = self.cached(), [], self.served()
        for write in writes.WRITES:
            if _route_of(write) not in served:
                continue
            self.write(write)
            dropped = self.dropped(before)
            # Not all releases drop as much.
            if not dropped <= write.drops:
                unexpected.append((write.method, write.path, dropped))
            if dropped:
                before = self.cached()
            with self.counted(hit=2 * len(self.tokens)):
                for token in self.tokens:
                    self.ask(token)
        self.assertEqual([], unexpected)

    def test_each_write_is_listed(self):
        unlisted = self.served() - set(map(_route_of, writes.WRITES))
        self.assertEqual(
            [], [one for one in unlisted if not _NOT_WRITES.match(one)]
        )


def _route_of(write):
    return _nameless(f'{write.method} /v3{write.path}')


def _nameless(route):
    return re.sub('<.*?>|{.*?}', '{}', route)


def _base_of(stored):
    region = shared_cache.REGIONS[0]
    return regions.base_of(regions.unpack(region, stored).payload)


def _filled(body, ids):
    """A body with ids in place of their names."""
    if isinstance(body, dict):
        return {name: _filled(value, ids) for name, value in body.items()}
    if isinstance(body, list):
        return [_filled(value, ids) for value in body]
    return body.format(**ids) if isinstance(body, str) else body
