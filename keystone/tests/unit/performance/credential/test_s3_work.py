# SPDX-License-Identifier: Apache-2.0

import http.client

import sqlalchemy

from keystone.common import sql
from keystone.tests.unit.credential import s3_base


class S3WorkTests(s3_base.S3TestCase):
    """What it costs to check one request that was signed before."""

    def setUp(self):
        super().setUp()
        self.ask()
        self.ask()
        self.statements = []
        with sql.session_for_read() as session:
            engine = session.get_bind()
        event = (engine, 'before_cursor_execute', self.note)
        sqlalchemy.event.listen(*event)
        self.addCleanup(sqlalchemy.event.remove, *event)

    def note(self, connection, cursor, statement, *_):
        self.statements.append(statement)

    def about_credentials(self):
        return [text for text in self.statements if 'FROM credential' in text]

    def test_nothing_is_decrypted_or_read(self):
        work = self.decryptions()

        for _ in range(10):
            self.ask()

        self.assertEqual([], work)
        self.assertEqual([], self.about_credentials())

    def test_many_wrong_signatures_cost_no_more(self):
        work = self.decryptions()

        for _ in range(10):
            self.ask(http.client.UNAUTHORIZED, secret='wrong')

        self.assertEqual([], work)
        self.assertEqual([], self.about_credentials())

    def test_change_of_another_credential_costs_nothing(self):
        work = self.decryptions()
        _, other = self.create_credential()
        self.elsewhere(
            s3_base.PROVIDERS.credential_api.delete_credential, other['id']
        )
        self.statements.clear()
        work.clear()

        for _ in range(10):
            self.ask()

        self.assertEqual([], work)
        self.assertEqual([], self.about_credentials())
