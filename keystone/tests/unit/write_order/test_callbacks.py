# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
