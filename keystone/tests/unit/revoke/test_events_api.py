# SPDX-License-Identifier: Apache-2.0

import datetime
import http.client
import urllib.parse

from keystone.models import revoke_model
from keystone.revoke.backends import base as backends
from keystone.revoke import event_times
from keystone.tests import unit
from keystone.tests.unit.revoke import base

URL = '/OS-REVOKE/events'


class EventsApiTests(base.TokenTestCase):
    """What the API reference says of ``GET /v3/OS-REVOKE/events``."""

    def setUp(self):
        super().setUp()
        self.first = self.expiry(-10)
        self.second = self.first + datetime.timedelta(seconds=1)
        self.revoke(user_id='first', revoked_at=self.first)
        self.revoke(user_id='second', revoked_at=self.second)

    def list(self, since=None, **kwargs):
        query = ''
        if since is not None:
            query = '?' + urllib.parse.urlencode({'since': since})
        return self.get(URL + query, **kwargs)

    def users(self, since):
        events = self.list(since).json_body['events']
        return [event['user_id'] for event in events]

    def rfc_1123(self, moment):
        return moment.strftime('%a, %d %b %Y %H:%M:%S GMT')

    def test_since_is_on_or_after(self):
        for since in (self.first.isoformat(), self.rfc_1123(self.first)):
            self.assertEqual(['first', 'second'], self.users(since))
        for since in (self.second.isoformat(), self.rfc_1123(self.second)):
            self.assertEqual(['second'], self.users(since))

    def test_since_within_a_second_gives_its_events(self):
        since = self.second + datetime.timedelta(milliseconds=700)

        self.assertEqual(['second'], self.users(since.isoformat()))

    def test_since_with_an_offset(self):
        east = self.second + datetime.timedelta(hours=2)

        self.assertEqual(['second'], self.users(f'{east.isoformat()}+02:00'))

    def test_since_that_is_no_time(self):
        for since in (
            'blah',
            '0001-01-01T00:00:00+02:00',
            '31 Foo 2026',
            'Mon, 01 Jan 99999999999 00:00:00 GMT',
            'Mon, 01 Jan 2026 00:00:00 +99999999999999999',
        ):
            self.list(since, expected_status=http.client.BAD_REQUEST)

    def test_date_is_that_of_the_newest_event(self):
        date = self.rfc_1123(self.second)

        self.assertEqual(date, self.list().headers['Date'])
        since = self.rfc_1123(self.first)
        self.assertEqual(date, self.list(since).headers['Date'])

    def test_date_given_as_since_loses_nothing(self):
        date = self.list().headers['Date']
        self.revoke(user_id='third', revoked_at=self.second)

        self.assertIn('third', self.users(date))

    def test_date_without_events(self):
        later = self.rfc_1123(self.expiry(10))

        self.assertEqual(later, self.list(later).headers['Date'])

    def test_head_has_the_date(self):
        response = self.head(URL, expected_status=http.client.OK)

        self.assertEqual(self.rfc_1123(self.second), response.headers['Date'])

    def test_link_to_itself_keeps_since(self):
        since = self.rfc_1123(self.second)
        link = self.list(since).json_body['links']['self']

        query = urllib.parse.urlsplit(link).query
        self.assertEqual({'since': [since]}, urllib.parse.parse_qs(query))
        self.assertNotIn('?', self.list().json_body['links']['self'])


class EventTimesTests(unit.TestCase):
    def test_either_form(self):
        expected = datetime.datetime(2013, 2, 27, 18, 30, 59)

        for text in (
            'Wed, 27 Feb 2013 18:30:59 GMT',
            '2013-02-27T18:30:59Z',
            '2013-02-27T18:30:59.999999Z',
            '2013-02-27T19:30:59+01:00',
        ):
            self.assertEqual(expected, event_times.parse_since(text))

    def test_date_without_events_or_since(self):
        earliest = backends.revoked_before_cutoff_time().replace(microsecond=0)
        _body, _status, headers = event_times.dated({}, [])

        self.assertLess(
            event_times.parse_since(headers['Date']) - earliest,
            datetime.timedelta(minutes=1),
            'events are lost',
        )

    def test_date_of_events_in_any_order(self):
        newest = datetime.datetime(2026, 1, 2, 3, 4, 5)
        events = [
            revoke_model.RevokeEvent(revoked_at=newest),
            revoke_model.RevokeEvent(
                revoked_at=newest - datetime.timedelta(days=1)
            ),
        ]

        self.assertEqual(
            {'Date': 'Fri, 02 Jan 2026 03:04:05 GMT'},
            event_times.dated({}, events)[-1],
        )
