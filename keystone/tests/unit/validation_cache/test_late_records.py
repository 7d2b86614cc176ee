# SPDX-License-Identifier: Apache-2.0

import contextlib
import http.client
import threading
import uuid

import fixtures

from keystone.catalog import answer_text
from keystone.common.cache import after_write
from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.validation_cache import base

PROVIDERS = provider_api.ProviderAPIs


class LateTests(base.ValidationCacheTestCase):
    """Records that are done when what they tell has changed."""

    def change(self):
        role = unit.new_role_ref()
        PROVIDERS.role_api.create_role(role['id'], role)
        PROVIDERS.assignment_api.create_grant(
            role['id'], user_id=self.user_id, project_id=self.project_id
        )
        return role['name'].encode()

    @contextlib.contextmanager
    def late(self, subject):
        """Have a record made from what was read before the body of this."""
        render, at_end = answer_text.render_response, threading.Event()
        read = threading.Event()

        def render_late(*args, **kwargs):
            shown = render(*args, **kwargs)
            if not read.is_set():
                read.set()
                at_end.wait(20)
            return shown

        with fixtures.MonkeyPatch(
            'keystone.catalog.answer_text.render_response', render_late
        ):
            answers = []
            thread = threading.Thread(
                target=lambda: answers.append(self.ask(subject))
            )
            thread.start()
            self.assertTrue(read.wait(20))
            try:
                yield answers
            finally:
                at_end.set()
                thread.join(20)

    def test_late_record_is_not_used(self):
        subject = self.get_scoped_token()
        with self.late(subject) as answers:
            name = self.change()

        self.assertNotIn(name, answers[0][2])
        self.assertIn(name, self.assertNoHit(subject)[2])
        self.assertIn(name, self.assertHit(subject)[2])

    def test_late_record_is_not_used_elsewhere(self):
        subject = self.get_scoped_token()
        with self.late(subject):
            name = self.change()

        self.cache.clear()
        self.assertIn(name, self.assertNoHit(subject)[2])

    def test_validated_in_the_middle_of_a_write(self):
        """The old name is cached again before the write is done."""
        subject = self.get_scoped_token()
        api, name = PROVIDERS.identity_api, uuid.uuid4().hex

        @after_write.invalidate_again
        def rename():
            api.get_user.invalidate(api, self.user_id)
            self.assertNotIn(name.encode(), self.ask(subject)[2])
            api.driver.update_user(self.user_id, {'name': name})

        rename()

        self.assertIn(name.encode(), self.assertNoHit(subject)[2])

    def test_revoked_meanwhile(self):
        subject = self.get_scoped_token()
        with self.late(subject):
            self.delete(
                '/auth/tokens',
                headers={'X-Subject-Token': subject},
                token=self.get_scoped_token(),
            )

        self.assertNoHit(subject, status=http.client.NOT_FOUND)
