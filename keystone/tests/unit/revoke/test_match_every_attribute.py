# SPDX-License-Identifier: Apache-2.0

import uuid

import freezegun

from keystone.common import provider_api
from keystone.revoke.backends import base as driver_base
from keystone.tests.unit.revoke import base

PROVIDERS = provider_api.ProviderAPIs


class EveryAttributeTests(base.TokenTestCase):
    def _oauth1_token(self):
        oauth = PROVIDERS.oauth_api
        consumer = oauth.create_consumer({'id': uuid.uuid4().hex})
        request = oauth.create_request_token(
            consumer['id'], self.project['id'], 600
        )
        oauth.authorize_request_token(
            request['id'], self.user['id'], [self.role_id]
        )
        access = oauth.create_access_token(request['id'], 600)
        return self.issue(
            project_id=self.project['id'],
            auth_context={'access_token_id': access['id']},
        )

    def test_access_token_event_revokes_its_token_only(self):
        ours, others = self._oauth1_token(), self._oauth1_token()
        plain = self.issue(project_id=self.project['id'])
        unscoped = self.issue()

        self.revoke(access_token_id=ours.access_token_id)

        self.assertRevoked(ours)
        self.assertValid(others)
        self.assertValid(plain)
        self.assertValid(unscoped)

    def test_consumer_and_access_token_must_both_match(self):
        ours, others = self._oauth1_token(), self._oauth1_token()

        self.revoke(
            consumer_id=ours.access_token['consumer_id'],
            access_token_id=others.access_token_id,
        )

        self.assertValid(ours)
        self.assertValid(others)

    def test_chain_event_revokes_the_root_and_its_children(self):
        root, stranger = self.issue(), self.issue()
        child = self.issue(
            project_id=self.project['id'], parent_audit_id=root.audit_id
        )

        PROVIDERS.revoke_api.revoke_by_audit_chain_id(root.audit_id)

        self.assertRevoked(root)
        self.assertRevoked(child)
        self.assertValid(stranger)

    def test_role_event_revokes_tokens_with_the_role(self):
        with_role = self.issue(project_id=self.project['id'])
        unscoped = self.issue()

        self.revoke(role_id=self.role_id)

        self.assertRevoked(with_role)
        self.assertValid(unscoped)


class _EventList(driver_base.RevokeDriverBase):
    """A driver that keeps its events in a list and filters nothing."""

    def __init__(self):
        self.events = []

    def list_events(self, last_fetch=None, token=None):
        return self.events

    def revoke(self, event):
        self.events.append(event)


class UnfilteredDriverTests(base.TokenTestCase):
    """The driver does not have to filter for the answer to be right."""

    def setUp(self):
        super().setUp()
        sql = PROVIDERS.revoke_api.driver
        self.addCleanup(setattr, PROVIDERS.revoke_api, 'driver', sql)
        PROVIDERS.revoke_api.driver = _EventList()

    def test_events_about_others_revoke_nothing(self):
        token = self.issue(project_id=self.project['id'])

        for attribute in (
            'user_id',
            'project_id',
            'audit_id',
            'trust_id',
            'access_token_id',
        ):
            self.revoke(**{attribute: 'another'})

        self.assertValid(token)

    def test_event_revokes_its_user_only(self):
        ours = self.issue()
        others = self.issue(user_id=self.user_reqadmin['id'])

        PROVIDERS.revoke_api.revoke_by_user(self.user['id'])

        self.assertRevoked(ours)
        self.assertValid(others)

    def test_tokens_issued_after_the_event_are_valid(self):
        with freezegun.freeze_time('2026-11-02 10:00:00') as clock:
            before = self.issue()
            PROVIDERS.revoke_api.revoke_by_user(self.user['id'])
            clock.tick(1)
            after = self.issue()

            self.assertRevoked(before)
            self.assertValid(after)
