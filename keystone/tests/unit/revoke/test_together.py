# SPDX-License-Identifier: Apache-2.0

import http.client

import fixtures
from oslo_db import exception as db_exception
import sqlalchemy

from keystone.common import provider_api
from keystone.common import sql
from keystone.models import revoke_model
from keystone.revoke.backends import base as revoke_base
from keystone.revoke.backends import sql as revoke_sql
from keystone.revoke.backends import together
from keystone.revoke import core
from keystone.tests.unit.revoke import base
from keystone.tests.unit.revoke import replica_base

PROVIDERS = provider_api.ProviderAPIs


class OneByOne(revoke_base.RevokeDriverBase):
    """A driver from elsewhere, which records one event at a time."""

    def __init__(self, failing=None):
        self.events = []
        self.failing = failing

    def list_events(self, last_fetch=None, token=None):
        return list(self.events)

    def revoke(self, event):
        if event.audit_chain_id is not None and self.failing:
            raise self.failing
        self.events.append(event)


class RecordTests(replica_base.ReplicaTestCase):
    """Several events in the table."""

    def setUp(self):
        super().setUp()
        self.events = [
            revoke_model.RevokeEvent(audit_id='a'),
            revoke_model.RevokeEvent(audit_chain_id='b'),
            revoke_model.RevokeEvent(user_id='c'),
        ]

    def rows(self):
        columns = self.table.c
        query = sqlalchemy.select(
            columns.id, columns.audit_id, columns.audit_chain_id,
            columns.user_id, columns.revoked_at, columns.issued_before,
        ).order_by(columns.id)  # fmt: skip
        with self.engine.connect() as connection:
            return connection.execute(query).all()

    def assertRecorded(self, row_id):
        rows = self.rows()
        now = replica_base.NOW
        self.assertCountEqual(
            [
                ('a', None, None, now, now),
                (None, 'b', None, now, now),
                (None, None, 'c', now, now),
            ],
            [tuple(row[1:]) for row in rows],
        )
        self.assertIn(row_id, [row.id for row in rows])

    def commits(self):
        """List that grows with each commit from now on."""
        found = []
        event = (self.engine, 'commit', found.append)
        sqlalchemy.event.listen(*event)
        self.addCleanup(sqlalchemy.event.remove, *event)
        return found

    def test_in_one_transaction(self):
        commits = self.commits()

        ((row_id, event),) = together.record(self.driver, self.events)

        self.assertEqual(1, len(commits))
        self.assertIs(self.events[0], event)
        self.assertRecorded(row_id)

    def test_in_a_database_that_does_not_return_ids(self):
        self.engine.dialect.insert_executemany_returning = False
        commits = self.commits()

        ((row_id, _event),) = together.record(self.driver, self.events)

        self.assertEqual(1, len(commits))
        self.assertRecorded(row_id)

    def test_all_or_none(self):
        self.events[1].issued_before = None

        self.assertRaises(
            db_exception.DBError, list,
            together.record(self.driver, self.events),
        )  # fmt: skip

        self.assertEqual([], self.rows())

    def test_within_a_transaction_that_is_rolled_back(self):
        class Stop(Exception):
            pass

        def revoke_and_stop():
            with sql.session_for_write():
                list(together.record(self.driver, self.events))
                raise Stop

        self.assertRaises(Stop, revoke_and_stop)

        self.assertEqual([], self.rows())

    def test_one_event(self):
        ((row_id, event),) = together.record(self.driver, self.events[:1])

        self.assertIs(self.events[0], event)
        (row,) = self.rows()
        self.assertEqual((row_id, 'a'), row[:2])

    def test_driver_that_cannot(self):
        driver = OneByOne()

        recorded = list(together.record(driver, self.events))

        self.assertEqual([(None, event) for event in self.events], recorded)
        self.assertEqual(self.events, driver.events)

    def test_replica_has_all_of_them(self):
        events = self.replica()
        self.assertValid(events, audit_id='a')

        ((row_id, event),) = together.record(self.driver, self.events)
        events.written(replica_base.stamp.Row(row_id, event.revoked_at))

        self.assertRevoked(events, audit_id='a')
        self.assertRevoked(events, audit_id='x', audit_chain_id='b')
        self.assertRevoked(events, user_id='c')


class RevokeTokenTests(base.TokenTestCase):
    """What a DELETE records."""

    def setUp(self):
        super().setUp()
        self.driver = PROVIDERS.revoke_api.driver
        self.stamps = []
        invalidate = core.REVOKE_REGION.invalidate

        def note(*args, **kwargs):
            self.stamps.append(len(self.driver.list_events()))
            return invalidate(*args, **kwargs)

        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.revoke.core.REVOKE_REGION.invalidate', note
            )
        )

    def delete_token(self, token):
        self.delete(
            '/auth/tokens',
            headers={'X-Subject-Token': token.id},
            expected_status=http.client.NO_CONTENT,
        )

    def test_stamp_changes_once_when_all_is_recorded(self):
        self.assertIsInstance(self.driver, revoke_sql.Revoke)
        token = self.issue(project_id=self.project['id'])
        child = self.issue(parent_audit_id=token.audit_id)

        self.delete_token(token)

        self.assertEqual([2], self.stamps)
        self.assertRevoked(token)
        self.assertRevoked(child)
        events = PROVIDERS.revoke_api.list_events()
        self.assertCountEqual(
            [(token.audit_id, None), (None, token.audit_id)],
            [(event.audit_id, event.audit_chain_id) for event in events],
        )

    def test_driver_from_elsewhere(self):
        self.driver = PROVIDERS.revoke_api.driver = OneByOne()
        token = self.issue(project_id=self.project['id'])
        child = self.issue(parent_audit_id=token.audit_id)

        self.delete_token(token)

        self.assertEqual([1, 2], self.stamps)
        self.assertRevoked(token)
        self.assertRevoked(child)

    def test_driver_from_elsewhere_that_fails_in_between(self):
        error = db_exception.DBError()
        self.driver = PROVIDERS.revoke_api.driver = OneByOne(error)
        token = self.issue(project_id=self.project['id'])

        self.assertRaises(
            db_exception.DBError,
            PROVIDERS.token_provider_api.revoke_token,
            token.id,
        )

        # What is recorded is announced.
        self.assertEqual([1], self.stamps)
        self.assertRevoked(token)
