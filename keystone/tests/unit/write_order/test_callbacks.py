# SPDX-License-Identifier: Apache-2.0

from keystone.common import provider_api
from keystone import notifications
from keystone.tests.unit.write_order import base

PROVIDERS = provider_api.ProviderAPIs


class CallbackTests(base.WriteOrderTestCase):
    """Who asked first is told first."""

    def test_order_of_registration(self):
        told = []

        def callback(number):
            def tell(*_):
                told.append(number)

            return tell

        for number in range(50):
            notifications.register_event_callback(
                notifications.ACTIONS.deleted, 'thing', callback(number)
            )

        notifications.Audit.deleted('thing', 'id')

        self.assertEqual(list(range(50)), told)

    def test_callback_that_is_registered_twice(self):
        told = []

        def tell(*_):
            told.append(True)

        for _ in range(2):
            notifications.register_event_callback(
                notifications.ACTIONS.deleted, 'thing', [tell, tell]
            )

        notifications.Audit.deleted('thing', 'id')

        self.assertEqual([True], told)

    def test_tokens_are_dropped_last(self):
        drop = PROVIDERS.token_provider_api._drop_token_cache

        for operation, resource_type in (
            ('deleted', 'OS-TRUST:trust'),
            ('deleted', 'user'),
            ('deleted', 'domain'),
            ('disabled', 'user'),
        ):
            callbacks = notifications._SUBSCRIBERS[operation][resource_type]
            self.assertEqual(drop, list(callbacks)[-1])
