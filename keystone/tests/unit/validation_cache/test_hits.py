# SPDX-License-Identifier: Apache-2.0

import re

from keystone.common import provider_api
from keystone.tests.unit.ksfixtures import shared_cache
from keystone.tests.unit.validation_cache import base
from keystone.token.validation_cache import cache
from keystone.token.validation_cache import lookup

PROVIDERS = provider_api.ProviderAPIs


class HitTests(base.ValidationCacheTestCase):
    """An answer that was given once is given again, the same."""

    def test_get(self):
        answer = self.assertHit()

        self.assertEqual('200 OK', answer[0])
        self.assertIn(b'"catalog"', answer[2])

    def test_head(self):
        self.assertNoHit(method='HEAD')

        answer = self.assertHit(method='HEAD')

        self.assertEqual(b'', answer[2])

    def test_without_catalog(self):
        self.assertNoHit(QUERY_STRING='nocatalog')

        answer = self.assertHit(QUERY_STRING='nocatalog')

        self.assertNotIn(b'"catalog"', answer[2])

    def test_expired_tokens_allowed(self):
        for query in ('allow_expired=1', 'nocatalog&allow_expired=1'):
            self.assertNoHit(QUERY_STRING=query)
            answer = self.assertHit(QUERY_STRING=query)
            self.assertEqual(
                'nocatalog' not in query, b'"catalog"' in answer[2]
            )

    def test_each_answer_has_a_request_id_of_its_own(self):
        ids = set()
        for _ in range(3):
            _status, headers, _body = self.ask()
            (request_id,) = (
                value
                for name, value in headers
                if name.lower() == 'x-openstack-request-id'
            )
            self.assertTrue(re.fullmatch(r'req-[0-9a-f-]{36}', request_id))
            ids.add(request_id)

        self.assertEqual(3, len(ids))

    def test_each_caller_and_subject_have_their_own(self):
        other = self.get_scoped_token()
        unscoped = self.get_unscoped_token()
        tokens = (self.token, other, unscoped)
        for method in ('GET', 'HEAD'):
            for caller in tokens:
                for subject in tokens:
                    first = self.ask(subject, caller, method)
                    again = self.assertHit(subject, caller, method)
                    self.assertSame(first, again)

    def test_scopes(self):
        for subject in (
            self.get_unscoped_token(),
            self.get_domain_scoped_token(),
        ):
            self.assertNoHit(subject)
            self.assertHit(subject)

    def test_headers_that_make_no_difference(self):
        for name, value in (
            ('HTTP_ACCEPT', 'text/plain'),
            ('HTTP_ACCEPT_LANGUAGE', 'de'),
            ('HTTP_ACCEPT_ENCODING', 'gzip'),
            ('HTTP_TRACEPARENT', '00-4bf92f3577b34da6-00f067aa0ba902b7-01'),
            ('HTTP_USER_AGENT', 'python-keystoneclient'),
            ('HTTP_X_FORWARDED_FOR', '192.0.2.7'),
            ('HTTP_X_OPENSTACK_REQUEST_ID', 'req-' + 36 * '0'),
            ('HTTP_X_REQUEST_ID', '77034002-7F00'),
        ):
            self.assertHit(**{name: value})

    def test_forwarded(self):
        # Other middleware changes the environment by these.
        for name, value in (
            ('HTTP_X_FORWARDED_PROTO', 'https'),
            ('HTTP_X_FORWARDED_HOST', 'cloud.example'),
        ):
            self.assertNoHit(**{name: value})
            self.assertHit(**{name: value})

    def test_access_rules_header(self):
        name = 'HTTP_OPENSTACK_IDENTITY_ACCESS_RULES'
        self.assertNoHit(**{name: '1'})
        self.assertHit(**{name: '1'})

    def test_no_token_is_kept(self):
        self.assertHit()
        records = list(self.cache._records.items())
        self.assertEqual(1, len(records))
        for key, record in records:
            held = repr((key, record.packed(), record.keys)).encode()
            self.assertNotIn(self.token.encode(), held)
            if record.caller is not None:
                credentials = record.caller.credentials
                self.assertNotIn(self.token, repr(vars(credentials)))

    def test_nothing_is_shared_in_the_clear(self):
        names = ('user', 'project', 'catalog')
        shared = {
            key: value
            for key, value in shared_cache.SharedMemory.values.items()
            if key.startswith('keystone.record.')
        }
        self.assertEqual(1, len(shared))
        for key, value in shared.items():
            self.assertNotIn(self.token, key)
            for text in (self.token, self.user_id, self.project_id, *names):
                self.assertNotIn(text.encode(), value)

    def test_record_of_another_process(self):
        self.cache.clear()
        asked = self.asked
        with self.counted(shared_hit=2):
            answer = self.ask()
        self.assertEqual(asked, self.asked)
        self.assertSame(self.ask_past(), answer)
        self.assertHit()

    def test_record_that_another_process_has_replaced(self):
        other, wanted = cache.Records(), lookup.Wanted(self.token)
        PROVIDERS.resource_api.update_project(
            self.project_id, {'name': 'renamed'}
        )
        self.assertEqual([None], other.find(wanted))
        other.make(wanted)

        with self.counted(shared_hit=2):
            answer = self.ask()

        self.assertIn(b'"renamed"', answer[2])
        self.assertSame(self.ask_past(), answer)

    def test_forged_record(self):
        self.cache.clear()
        values = shared_cache.SharedMemory.values
        for key, value in list(values.items()):
            if key.startswith('keystone.record.'):
                values[key] = value[:-1] + bytes((value[-1] ^ 1,))
        self.assertNoHit()

    def test_records_that_were_exchanged(self):
        other = self.get_unscoped_token()
        self.ask(other)
        self.cache.clear()
        values = shared_cache.SharedMemory.values
        records = [key for key in values if key.startswith('keystone.record.')]
        kept = [values[key] for key in records]
        values.update(zip(records, kept[1:] + kept[:1]))
        self.assertNoHit()
        self.assertNoHit(other)
