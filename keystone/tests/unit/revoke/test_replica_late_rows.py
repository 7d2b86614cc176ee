# SPDX-License-Identifier: Apache-2.0

import datetime

from keystone.revoke.backends import sql as revoke_sql
from keystone.tests.unit.revoke import replica_base


class LateRowTests(replica_base.ReplicaTestCase):
    """Rows appear in another order than their ids and clocks tell."""

    def test_commits_out_of_id_order(self):
        events = self.replica()
        self.write(id=7, user_id='late id')
        self.assertRevoked(events, user_id='late id')

        self.revoke(id=3, user_id='early id')

        self.assertRevoked(events, user_id='early id')

    def test_clocks_that_differ(self):
        events = self.replica()
        for seconds in (5, -5, 0, 4, -4):
            user_id = f'skew {seconds}'
            self.revoke(
                seconds=seconds,
                user_id=user_id,
                issued_before=replica_base.NOW,
            )
            self.assertRevoked(events, user_id=user_id)

    def test_clock_far_ahead_does_not_hide_later_rows(self):
        events = self.replica()
        self.revoke(seconds=86400, user_id='from the future')
        self.assertRevoked(events, user_id='from the future')

        self.revoke(user_id='a')

        self.assertRevoked(events, user_id='a')

    def test_known_rows_are_not_read_again(self):
        read = []

        class Noting(revoke_sql.Revoke):
            def read_news(self, *args):
                news = super().read_news(*args)
                read.extend(row.id for row in news.rows)
                return news

        events = self.replica(Noting())
        for number in range(20):
            self.revoke(user_id=str(number))
        self.assertRevoked(events, user_id='0')
        read.clear()

        row_id = self.revoke(user_id='new')
        self.assertRevoked(events, user_id='new')

        # The newest one that was known tells that the table goes on.
        self.assertEqual([row_id - 1, row_id], read)

    def test_id_that_is_given_again(self):
        events = self.replica()
        row_id = self.revoke(user_id='a')
        self.assertRevoked(events, user_id='a')
        self.delete()

        self.clock.tick(2)
        self.revoke(id=row_id, user_id='b')

        self.assertRevoked(events, user_id='b')

    def test_ids_that_start_over_after_the_table_was_emptied(self):
        events = self.replica()
        for number in range(5):
            self.revoke(user_id=f'old {number}')
        self.assertRevoked(events, user_id='old 4')
        self.delete()

        self.clock.tick(2)
        for number in range(5):
            self.revoke(id=number + 1, user_id=f'new {number}')

        for number in range(5):
            self.assertRevoked(events, user_id=f'new {number}')

    def test_ids_that_start_over_after_all_rows_had_expired(self):
        self.write(id=5, seconds=-30 * 86400, user_id='expired')
        events = self.replica()
        self.assertValid(events, user_id='expired')
        self.delete()

        self.revoke(id=1, user_id='a')
        # The stamp only names the row of this one.
        self.revoke(id=2, user_id='b')

        self.assertRevoked(events, user_id='a')
        self.assertRevoked(events, user_id='b')

    def test_row_with_the_highest_id_had_expired(self):
        self.write(seconds=-7200, user_id='live')
        self.write(seconds=-30 * 86400, user_id='expired')
        events = self.replica()
        self.assertValid(events, user_id='a')
        statements = self.statements()

        self.revoke(user_id='a')

        self.assertRevoked(events, user_id='a')
        self.assertEqual(1, len(statements))

    def test_clock_of_the_writer_is_behind(self):
        events = self.replica()
        self.revoke(user_id='newest')
        self.assertRevoked(events, user_id='newest')
        for seconds in (90, 600, 3600):
            values = {'user_id': f'behind {seconds}'}
            self.revoke(
                seconds=-seconds, issued_before=replica_base.NOW, **values
            )
            # Another one follows before the first is looked for.
            self.revoke(user_id='another')
            self.assertRevoked(events, **values)

    def test_clock_of_the_writer_is_behind_without_a_stamp(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.write(seconds=-3600, user_id='a', issued_before=replica_base.NOW)

        self.clock.tick(10)

        self.assertRevoked(events, user_id='a')

    def test_transaction_longer_than_the_overlap(self):
        issued_at = replica_base.EARLIER
        for seconds in (50, 61, 1800):
            events = self.replica()
            begun = self.clock.utcnow
            late = self.revoke(user_id='before') + 1
            for number in range(3):
                self.revoke(id=late + 1 + number, user_id='meanwhile')
                self.clock.tick(seconds / 3)
                self.assertRevoked(
                    events, user_id='meanwhile', issued_at=issued_at
                )
            values = {'user_id': f'late {seconds}'}
            self.revoke(
                id=late, revoked_at=begun, issued_before=begun, **values
            )
            self.revoke(user_id='another')

            self.assertRevoked(events, issued_at=issued_at, **values)

    def test_transaction_longer_than_the_overlap_of_many(self):
        self.config(group='revoke', sync_interval=10)
        events = self.replica()
        begun = self.clock.utcnow
        late = self.revoke(user_id='before') + 1
        with self.engine.begin() as connection:
            connection.execute(
                self.table.insert(),
                [
                    {
                        'id': late + 1 + number,
                        'user_id': 'meanwhile',
                        'revoked_at': begun,
                        'issued_before': begun,
                    }
                    for number in range(6000)
                ],
            )
        for _ in range(20):
            self.clock.tick(10)
            events.is_revoked(self.token())
        self.write(
            id=late, user_id='late', revoked_at=begun, issued_before=begun
        )

        self.clock.tick(10)

        issued_at = begun - datetime.timedelta(minutes=1)
        self.assertRevoked(events, user_id='late', issued_at=issued_at)
        self.assertRevoked(events, user_id='meanwhile', issued_at=issued_at)

    def test_late_row_while_an_earlier_release_deletes_old_rows(self):
        for number in range(3):
            self.write(seconds=-5410 - 500 * number, user_id='old')
        self.write(user_id='new')
        events = self.replica()
        self.assertRevoked(events, user_id='new')
        self.delete(self.table.c.user_id == 'old')
        # By its id, no new one.
        self.write(id=-1, seconds=-1200, user_id='late')

        self.clock.tick(10)

        issued_at = replica_base.NOW - datetime.timedelta(days=1)
        self.assertRevoked(events, user_id='late', issued_at=issued_at)
