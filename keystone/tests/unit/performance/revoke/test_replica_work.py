# SPDX-License-Identifier: Apache-2.0

import sys

import fixtures

from keystone.revoke.backends import sql as revoke_sql
from keystone.tests.unit.revoke import replica_base


class ReplicaWorkTests(replica_base.ReplicaTestCase):
    """What a check costs, in statements and in calls."""

    def fill(self, number):
        now = replica_base.NOW
        rows = [
            {
                'audit_chain_id': f'chain {i}',
                'revoked_at': now,
                'issued_before': now,
            }
            for i in range(number)
        ]
        with self.engine.begin() as connection:
            connection.execute(self.table.delete())
            connection.execute(self.table.insert(), rows)

    def calls(self, events, token):
        """Number of calls, of Python and of C, that one check makes."""
        count = 0

        def note(_frame, event, _arg):
            nonlocal count
            count += event in ('call', 'c_call')

        sys.setprofile(note)
        try:
            events.is_revoked(token)
        finally:
            sys.setprofile(None)
        return count

    def test_statements_of_1000_checks(self):
        self.fill(10)
        events = self.replica()
        statements = self.statements()

        for _ in range(1000):
            self.assertValid(events, audit_id='a')
        self.assertEqual(3, len(statements))
        self.revoke(audit_id='a')
        for _ in range(1000):
            self.assertRevoked(events, audit_id='a')

        self.assertEqual(4, len(statements))

    def test_calls_do_not_grow_with_the_number_of_events(self):
        found = []
        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.revoke.background._AT_ONCE', 100_000
            )
        )
        for number in (10, 100_000):
            self.fill(number)
            events = self.replica()
            valid = self.token(audit_id='a', audit_chain_id='b')
            revoked = self.token(audit_id='a', audit_chain_id='chain 5')
            self.assertFalse(events.is_revoked(valid))
            self.assertTrue(events.is_revoked(revoked))
            self.assertEqual(number, len(events.view.copy))
            found.append(
                (self.calls(events, valid), self.calls(events, revoked))
            )

        self.assertEqual(found[0], found[1])

    def test_sync_reads_new_rows_only(self):
        read = []

        class Noting(revoke_sql.Revoke):
            def read_news(self, *args):
                news = super().read_news(*args)
                read.append(len(news.rows))
                return news

        self.fill(1000)
        events = self.replica(Noting())
        self.assertValid(events, audit_id='a')

        for _ in range(10):
            self.revoke(audit_id='a')
            self.assertRevoked(events, audit_id='a')

        # The new one, and the newest that was known.
        self.assertEqual([2] * 10, read)

    def test_first_check_reads_no_more_of_a_large_table(self):
        replica_base.load_in_threads(self, at_once=100)
        started = self.useFixture(
            fixtures.MockPatch('keystone.revoke.background.threading.Thread')
        ).mock
        found = []
        # The first time, statements are compiled.
        for number in (200, 200, 20_000):
            self.fill(number)
            events = self.replica()
            statements = self.statements()
            found.append(self.calls(events, self.token(audit_id='a')))
            # A count, and one statement for each check.
            self.assertEqual(1 + 1, len(statements))
            self.assertTrue(events.is_revoked(self.token(audit_id='chain 7')))
            self.assertEqual(1 + 2, len(statements))

        self.assertEqual(3, started.call_count)
        self.assertLess(found[2] - found[1], 50)

    def test_sync_does_not_grow_with_the_events_of_the_overlap(self):
        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.revoke.background._AT_ONCE', 100_000
            )
        )
        found = []
        for number, gap in ((100, 0), (12_000, 0), (100, 1), (12_000, 1)):
            self.fill(number)
            self.delete(self.table.c.id == 50 * gap)
            events = self.replica()
            self.assertValid(events, audit_id='a')
            self.revoke(audit_id='a')
            self.assertRevoked(events, audit_id='a')
            self.revoke(audit_id='b')
            statements = self.statements()
            calls = self.calls(events, self.token(audit_id='b'))
            # An id that is left for an event is looked for, by a count.
            self.assertEqual(1 + gap, len(statements))
            found.append((sum(map(len, statements)), calls))

        for few, many in (found[:2], found[2:]):
            self.assertEqual(
                few[0], many[0], 'The query of a sync lists known events.'
            )
            self.assertLess(
                many[1] - few[1], 50, 'A sync does more for more events.'
            )

    def test_queries_of_a_sync_use_an_index(self):
        events = self.replica()
        for row_id in (1, 3):
            self.revoke(id=row_id, audit_id='a')
        self.assertRevoked(events, audit_id='a')
        statements = self.statements()
        self.clock.tick(10)
        self.assertRevoked(events, audit_id='a')

        with self.engine.connect() as connection:
            plans = [
                str(
                    connection.exec_driver_sql(
                        f'EXPLAIN QUERY PLAN {statement}',
                        (1,) * statement.count('?'),
                    ).all()
                )
                for statement in statements
            ]

        recent, between, news = plans
        self.assertIn('ix_revocation_event_revoked_at', recent)
        for plan in (between, news):
            self.assertIn('INTEGER PRIMARY KEY', plan)

    def test_query_for_one_token_uses_indexes(self):
        self.fill(1000)
        statements = self.statements()
        self.driver.read_matching(
            self.token(audit_id='a', user_id='b', project_id='c')
        )

        (statement,) = statements
        with self.engine.connect() as connection:
            plan = connection.exec_driver_sql(
                f'EXPLAIN QUERY PLAN {statement}',
                (replica_base.NOW,) * statement.count('?'),
            ).all()
        searches = [row[-1] for row in plan if 'revocation_event' in row[-1]]
        self.assertEqual(4, len(searches), searches)
        for search in searches:
            self.assertIn('USING INDEX', search)
