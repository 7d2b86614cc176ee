# SPDX-License-Identifier: Apache-2.0

"""The list of revocation events."""

import email.utils
import urllib.parse

from oslo_serialization import jsonutils
from oslo_utils import timeutils
from tempest.lib import decorators
from tempest.lib import exceptions

from revcache_tempest_plugin.tests.api import base


class RevocationEventsTest(base.PromiseTestCase):
    promise = 'revocation_events'

    def events(self, **query):
        query = urllib.parse.urlencode(query)
        response, body = self.identity.get(f'OS-REVOKE/events?{query}')
        self.assertEqual(200, response.status)
        return jsonutils.loads(body)['events']

    def audit_ids(self, **query):
        return {event.get('audit_id') for event in self.events(**query)}

    @decorators.idempotent_id('e2a6e7c4-1f5d-4f6e-9c0a-91d5b4d3c748')
    def test_revoked_token_is_listed(self):
        place = self.project()
        person = self.member(place)
        revoked, other = (
            self.log_in(person, name, project_id=place)
            for name in ('the revoked token', "the user's other token")
        )
        self.assertNotIn(revoked.audit_id, self.audit_ids())
        self.identity.delete_token(revoked.id)
        listed = self.audit_ids()
        if revoked.audit_id not in listed:
            self.broken('the list has no event for the revoked token')
        if other.audit_id in listed:
            self.broken('the list has an event for a token never revoked')

    @decorators.idempotent_id('93c5f0be-8a42-4d0c-b7de-a64c8f2e1559')
    def test_event_tells_when_and_before_when(self):
        place = self.project()
        person = self.member(place)
        revoked = self.log_in(person, 'the revoked token', project_id=place)
        self.identity.delete_token(revoked.id)
        for event in self.events():
            if event.get('audit_id') == revoked.audit_id:
                break
        else:
            self.broken('the list has no event for the revoked token')
        # ISO 8601 in one form and one zone: texts compare as times do.
        seconds = len('2026-01-01T00:00:00')
        if (
            event['issued_before'][:seconds]
            < revoked.body['issued_at'][:seconds]
        ):
            self.broken("the event's issued_before precedes its token")

    @decorators.idempotent_id('7f1e5b94-d0c6-4a38-b2e9-83a4f6c0d715')
    def test_since(self):
        place = self.project()
        person = self.member(place)
        early = self.log_in(person, 'the first token', project_id=place)
        late = self.log_in(person, 'the second token', project_id=place)
        self.identity.delete_token(early.id)
        self.next_second()
        self.identity.delete_token(late.id)
        moment = timeutils.parse_isotime(
            next(
                event['revoked_at']
                for event in self.events()
                if event.get('audit_id') == late.audit_id
            )
        )
        try:
            listed = self.audit_ids(
                since=email.utils.format_datetime(moment, usegmt=True)
            )
        except exceptions.BadRequest:
            self.broken('a time in RFC 1123 form was answered with 400')
        if late.audit_id not in listed:
            self.broken('the list had no event of that second')
        if early.audit_id in listed:
            self.broken('the list had an event of before')
