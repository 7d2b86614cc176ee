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

import gc
import tracemalloc

from keystone.tests import unit
from keystone.token.validation_cache import answer
from keystone.token.validation_cache import counts
from keystone.token.validation_cache import entry
from keystone.token.validation_cache import store

_MOST = 10_000_000


def make(number=0, began=0, catalog=b'"catalog": []', project=None, body=b''):
    headers = [
        ('Content-Type', 'application/json'),
        ('Content-Length', str(number)),
        ('X-Subject-Token', 'subject'),
        ('Vary', 'X-Auth-Token'),
        ('x-openstack-request-id', 'req-1'),
    ]
    look = entry.Look(began, b'%d' % number, None, None, None)
    return entry.Entry(
        look,
        None,
        answer.Answer('200 OK', headers, body + catalog, 'subject', project),
        ({'audit_id': str(number)},),
        None,
        None,
        None,
    )


class StoreTests(unit.BaseTestCase):
    """Entries, as many as fit."""

    def setUp(self):
        super().setUp()
        self.counts = counts.Counts()
        self.store = store.Store(self.counts)

    def put(self, number, entries=1000, size=_MOST, **kwargs):
        made = make(number, **kwargs)
        self.store.put(number, made, entries, size)
        return made

    def test_number_of_entries(self):
        for number in range(5):
            self.put(number, entries=3)
        self.store.get(2)
        self.put(5, entries=3)

        self.assertEqual(3, self.store.status()['entries'])
        self.assertEqual(3, self.counts['evicted'])
        self.assertIsNone(self.store.get(3))
        self.assertIsNotNone(self.store.get(2))

    def test_number_of_bytes(self):
        one = self.put(0, body=b'x' * 10_000)
        size = self.store.status()['bytes']
        self.assertGreater(size, 10_000)
        for number in range(1, 10):
            self.put(number, body=b'x' * 10_000, size=3 * size)

        self.assertEqual(3, self.store.status()['entries'])
        self.assertLessEqual(self.store.status()['bytes'], 3 * size)
        self.assertIsNone(self.store.get(0))
        self.assertIsNotNone(one)

    def test_answer_that_does_not_fit_at_all(self):
        self.put(0, body=b'x' * 1000, size=500)

        self.assertEqual(
            {'entries': 0, 'bytes': 0, 'shared': 0}, self.store.status()
        )

    def test_catalogs_are_shared(self):
        catalog = b'"catalog": [' + b'{"url": "http://x/%s"}, ' * 1000
        for number in range(100):
            project = f'{number:032x}'
            made = self.put(
                number,
                catalog=catalog.replace(b'%s', project.encode()),
                project=project,
                body=b'{%d' % number,
            )
            self.assertEqual(
                b'{%d' % number + catalog.replace(b'%s', project.encode()),
                made.answer.body(),
            )

        self.assertEqual(1, self.store.status()['shared'])
        self.assertLess(self.store.status()['bytes'], 400_000)

    def test_all_is_given_back(self):
        for turn in range(3):
            for number in range(20):
                self.put(
                    number,
                    began=turn,
                    catalog=b'"catalog": [%d' % (number % 3 + turn),
                )
        for number in range(20):
            self.store.drop(number, self.store.get(number))

        self.assertEqual(
            {'entries': 0, 'bytes': 0, 'shared': 0}, self.store.status()
        )

    def test_later_request_stays(self):
        later = self.put(0, began=2)
        self.put(0, began=1)

        self.assertIs(later, self.store.get(0))

    def test_drop_of_another(self):
        old = self.put(0, began=1)
        new = self.put(0, began=2)
        self.store.drop(0, old)

        self.assertIs(new, self.store.get(0))

    def test_a_million_tokens(self):
        """Nothing is counted wrong, however many come and go."""
        most = 1_000_000
        for number in range(1_000_000):
            self.put(number, size=most)

        status = self.store.status()
        self.assertLessEqual(status['bytes'], most)
        self.assertGreater(status['bytes'], 0.9 * most)

    def test_memory_stays_within_the_bound(self):
        """Very many tokens take no more than is allowed."""
        most = 4_000_000
        gc.collect()
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        before, _peak = tracemalloc.get_traced_memory()
        for number in range(20_000):
            self.put(number, size=most, body=b'x' * 900 + b'%d' % number)
        gc.collect()
        now, _peak = tracemalloc.get_traced_memory()

        self.assertLessEqual(self.store.status()['bytes'], most)
        self.assertLess(now - before, 1.2 * most)
        self.assertLess(0.3 * most, now - before)


class AnswerTests(unit.BaseTestCase):
    """A body is what it was, whatever is in it."""

    def test_bodies(self):
        for body in (
            b'',
            b'{"token": {}}',
            b'{"a": 1, "catalog": []}',
            b'pp"catalog": [pp, "p", p]p',
            b'"catalog": ["catalog": [',
        ):
            for project in (None, 'p', 'pp', 'a'):
                made = make(catalog=body, project=project)
                self.assertEqual(body, made.answer.body())

    def test_headers_that_are_not_those_of_a_validation(self):
        good = [('X-Subject-Token', 's'), ('x-openstack-request-id', 'r')]
        answer.Answer('200 OK', good, b'', 's', None)
        for bad in (
            good[:1],
            good[1:],
            good + good[:1],
            [('X-Subject-Token', 'other'), good[1]],
            [*good, ('Set-Cookie', 'a=b')],
        ):
            self.assertRaises(
                ValueError, answer.Answer, '200 OK', bad, b'', 's', None
            )
