# SPDX-License-Identifier: Apache-2.0

"""Catalogs made in the process beside those that the SQL driver makes."""

import uuid

import fixtures
import hypothesis
from hypothesis import strategies
from oslo_serialization import jsonutils

from keystone import catalog
from keystone.catalog import answer_text
from keystone.common import render_token
from keystone.common import sql
from keystone.tests import unit
from keystone.tests.unit.catalog import content_base

_TABLES = (
    'project_endpoint_group', 'project_endpoint', 'endpoint_group',
    'endpoint', 'service', 'region',
)  # fmt: skip

_URLS = (
    'https://plain.example.com/v3',
    'https://é.example.com:8776/',
    '',
    'https://example.com/%(project_id)s',
    'https://example.com/$(tenant_id)s/$(user_id)s',
    'https://example.com/%(user_id)s',
    'https://example.com/%(project_id).3s',
    'https://example.com/$(project_id).3s',
    '%(public_endpoint)s/v3',
    'https://example.com/%(compute_host)s',
    'https://example.com/%(nothing)s',
    'https://example.com/%(nothing)s/%(project_id)s',
    'https://example.com/%(project_id)s/%(nothing)s',
    'https://example.com/%(project_id)',
    'https://example.com/%(project_id)d',
    'https://example.com/%(user_id)c',
    'https://example.com/$(project_id',
    'https://example.com/100%',
    'https://example.com/100%%/$',
    'https://example.com/%d',
    '%(project_id).0s',
)
_INTERFACES = ('public', 'internal', 'admin')
_EXTRAS: tuple[dict, ...] = (
    {},
    {'name': 'é', 'description': None},
    {'name': 'deep', 'more': {'a': [1, {'b': None}]}},
    {'region': 'not the region', 'name': ''},
    {'name': '100%s %(project_id)s "%%"'},
)

_number = strategies.integers(0, 7)
_attributes = strategies.fixed_dictionaries(
    {
        'service': _number,
        'region': _number,
        'url': strategies.integers(0, len(_URLS) - 1),
        'interface': strategies.sampled_from(_INTERFACES),
        'enabled': strategies.sampled_from((True, True, False)),
        'extra': strategies.sampled_from(_EXTRAS),
    }
)


def _change(name, *arguments):
    return strategies.tuples(strategies.just(name), *arguments)


_changes = strategies.one_of(
    _change('add_endpoint', _attributes),
    _change('add_endpoint', _attributes),
    _change('add_endpoint', _attributes),
    _change('set_endpoint', _number, _attributes),
    _change('delete_endpoint', _number),
    _change('add_service', strategies.booleans(), _number),
    _change('set_service', _number, strategies.booleans()),
    _change('delete_service', _number),
    _change('associate', _number, _number),
    _change('associate', _number, _number),
    _change('dissociate', _number),
    _change('add_group', _number, _number),
    _change('set_group', _number, _number),
    _change('delete_group', _number),
    _change('associate_group', _number, _number),
    _change('dissociate_group', _number),
    _change('show_all', strategies.booleans()),
)


class _Catalog:
    """A catalog, and the random changes of it."""

    def __init__(self, api, projects, config):
        self.api = api
        self.projects = projects
        self.config = config
        self.services = []
        self.endpoints = []
        self.groups = []
        self.associated = []
        self.associated_groups = []
        self.regions = []
        for _ in range(2):
            region = unit.new_region_ref()
            api.create_region(region)
            self.regions.append(region['id'])
        self.add_service(True, 0)

    def _one(self, things, number):
        return things[number % len(things)] if things else None

    def _endpoint(self, chosen):
        return {
            **chosen['extra'],
            'url': self._one(_URLS, chosen['url']),
            'interface': chosen['interface'],
            'enabled': chosen['enabled'],
            'service_id': self._one(self.services, chosen['service']),
            'region_id': self._one([None, *self.regions], chosen['region']),
        }

    def _filters(self, number):
        return (
            {'interface': 'public'},
            {'service_id': self._one(self.services, number)},
            {'region_id': self.regions[0], 'interface': 'admin'},
            {'enabled': False},
        )[number % 4]

    def add_service(self, enabled, number):
        service = unit.new_service_ref(enabled=enabled)
        if number % 3 == 0:
            del service['name']
        self.api.create_service(service['id'], service)
        self.services.append(service['id'])

    def set_service(self, number, enabled):
        if self.services:
            self.api.update_service(
                self._one(self.services, number),
                {'enabled': enabled, 'name': str(number)},
            )

    def delete_service(self, number):
        if self.services:
            service = self._one(self.services, number)
            self.api.delete_service(service)
            self.services.remove(service)
            left = {one['id'] for one in self.api.list_endpoints()}
            self.endpoints = [one for one in self.endpoints if one in left]

    def add_endpoint(self, chosen):
        if self.services:
            endpoint = {'id': uuid.uuid4().hex, **self._endpoint(chosen)}
            self.api.create_endpoint(endpoint['id'], endpoint)
            self.endpoints.append(endpoint['id'])

    def set_endpoint(self, number, chosen):
        if self.endpoints:
            self.api.update_endpoint(
                self._one(self.endpoints, number), self._endpoint(chosen)
            )

    def delete_endpoint(self, number):
        if self.endpoints:
            endpoint = self._one(self.endpoints, number)
            self.api.delete_endpoint(endpoint)
            self.endpoints.remove(endpoint)
            self.associated = [
                pair for pair in self.associated if pair[0] != endpoint
            ]

    def associate(self, number, project):
        pair = (
            self._one(self.endpoints, number),
            self._one(self.projects, project),
        )
        if pair[0] and pair not in self.associated:
            self.api.add_endpoint_to_project(*pair)
            self.associated.append(pair)

    def dissociate(self, number):
        pair = self._one(self.associated, number)
        # That of a deleted service's endpoint is gone when the driver has
        # made a catalog.
        if pair and pair[0] in self.endpoints:
            self.api.remove_endpoint_from_project(*pair)
            self.associated.remove(pair)

    def add_group(self, number, filters):
        group = unit.new_endpoint_group_ref(filters=self._filters(filters))
        self.api.create_endpoint_group(group['id'], group)
        self.groups.append(group['id'])

    def set_group(self, number, filters):
        if self.groups:
            self.api.update_endpoint_group(
                self._one(self.groups, number),
                {'filters': self._filters(filters)},
            )

    def delete_group(self, number):
        if self.groups:
            group = self._one(self.groups, number)
            self.api.delete_endpoint_group(group)
            self.groups.remove(group)
            self.associated_groups = [
                pair for pair in self.associated_groups if pair[0] != group
            ]

    def associate_group(self, number, project):
        pair = (
            self._one(self.groups, number),
            self._one(self.projects, project),
        )
        if pair[0] and pair not in self.associated_groups:
            self.api.add_endpoint_group_to_project(*pair)
            self.associated_groups.append(pair)

    def dissociate_group(self, number):
        pair = self._one(self.associated_groups, number)
        if pair:
            self.api.remove_endpoint_group_from_project(*pair)
            self.associated_groups.remove(pair)

    def show_all(self, value):
        self.config(
            group='endpoint_filter', return_all_endpoints_if_no_filter=value
        )


class DifferentialTests(content_base.ContentTestCase):
    """Each answer is the driver's, to the byte, after each change."""

    @hypothesis.settings(
        max_examples=40,
        deadline=None,
        database=None,
        derandomize=True,
        # A machine that is busy is no failure.
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
    @hypothesis.given(
        strategies.lists(_changes, min_size=4, max_size=16),
        strategies.sampled_from(('user', 'u', 'u"r')),
    )
    def _compare(self, changes, user):
        self.empty()
        random = _Catalog(self.api, self.projects, self.config_fixture.config)
        for name, *arguments in changes:
            getattr(random, name)(*arguments)
            for project in (*self.projects, None):
                self.compare(project, user)

    def empty(self):
        with sql.session_for_write() as session:
            for name in _TABLES:
                table = sql.ModelBase.metadata.tables[name]
                session.execute(table.delete())
        self.config_fixture.config(
            group='endpoint_filter', return_all_endpoints_if_no_filter=True
        )
        # Nothing else tells of these.
        catalog.COMPUTED_CATALOG_REGION.invalidate()

    def compare(self, project, user):
        answered = self.elsewhere(self.api.get_v3_catalog, user, project)
        self.compared += bool(answered)
        written = self.write(user, project)
        made = self.elsewhere(self.computed, project, user)
        self.assertEqual(jsonutils.dumps(made), jsonutils.dumps(answered))
        self.assertEqual(
            jsonutils.dumps({'token': {'catalog': made, 'id': user}}), written
        )

    def write(self, user, project):
        """What an answer has that is written with the catalog as text."""

        def render(_token, include_catalog):
            catalog = self.elsewhere(self.api.get_v3_catalog, user, project)
            self.assertTrue(
                catalog == [] or isinstance(catalog, answer_text.Text)
            )
            return {'token': {'catalog': catalog, 'id': user}}

        with fixtures.MockPatchObject(
            render_token, 'render_token_response_from_model', render
        ):
            return answer_text.dumps(answer_text.render_response(None))

    def test_random_changes(self):
        self.compared = 0

        self._compare()

        self.assertGreater(self.compared, 500)
