# SPDX-License-Identifier: Apache-2.0

"""The service that audit notifications name as the observer."""

from unittest import mock

from oslo_context import context as oslo_context
import oslo_messaging
import sqlalchemy
from sqlalchemy import event

from keystone.common import provider_api
import keystone.conf
from keystone import notifications
from keystone.tests import unit
from keystone.tests.unit import test_v3

CONF = keystone.conf.CONF
PROVIDERS = provider_api.ProviderAPIs


class AuditServiceTests(test_v3.RestfulTestCase):
    def load_sample_data(self, *args, **kwargs):
        super().load_sample_data(*args, **kwargs)
        for service in PROVIDERS.catalog_api.list_services():
            PROVIDERS.catalog_api.delete_service(service['id'])

    def config_overrides(self):
        super().config_overrides()
        # This registers the option that the next line sets.
        oslo_messaging.get_notification_transport(CONF, url='rabbit://')
        self.config_fixture.config(
            group='oslo_messaging_notifications', transport_url='rabbit://'
        )

    def notify(self):
        """Change something that is audited.

        :returns: the observer's id, and whether services were read
        """
        oslo_context.RequestContext(overwrite=True)
        statements = []

        def note(*args):
            statements.append(args[2])

        notifier = notifications._get_notifier()
        event.listen(sqlalchemy.Engine, 'before_cursor_execute', note)
        try:
            with mock.patch.object(notifier, 'info') as info:
                unit.create_user(PROVIDERS.identity_api, self.domain_id)
        finally:
            event.remove(sqlalchemy.Engine, 'before_cursor_execute', note)
        payload = info.call_args.args[2]
        was_read = any('FROM service' in one for one in statements)
        return payload['observer']['id'], was_read

    def create_service(self):
        ref = unit.new_service_ref(type='identity')
        PROVIDERS.catalog_api.create_service(ref['id'], ref)
        return ref['id']

    def test_cached(self):
        service_id = self.create_service()
        self.assertEqual(service_id, self.notify()[0])

        self.assertEqual((service_id, False), self.notify())

    def test_service_created(self):
        self.notify()
        service_id = self.create_service()

        self.assertEqual(service_id, self.notify()[0])

    def test_service_changed(self):
        service_id = self.create_service()
        self.notify()
        PROVIDERS.catalog_api.update_service(service_id, {'type': 'other'})

        self.assertNotEqual(service_id, self.notify()[0])

    def test_service_deleted(self):
        service_id = self.create_service()
        self.notify()
        PROVIDERS.catalog_api.delete_service(service_id)

        self.assertNotEqual(service_id, self.notify()[0])
