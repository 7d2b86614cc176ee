# SPDX-License-Identifier: Apache-2.0

import importlib.util

from keystone.tests.unit.performance.token import work


class ValidationTests(work.WorkTestCase):
    """One warm GET /v3/auth/tokens on the full path."""

    def setUp(self):
        super().setUp()
        self.token = self.issue()
        self.get_token(self.token)
        self.work = self.get_token(self.token)

    def test_validations(self):
        self.assertEqual(
            2,
            self.work['validations'],
            'A request validates a token more than once.',
        )

    def test_validations_of_the_own_token(self):
        self.assertEqual(
            1,
            self.get_token(self.caller)['validations'],
            "A request validates its caller's token more than once.",
        )

    def test_rendered_tokens(self):
        self.assertEqual(
            2,
            self.work['rendered'],
            'A request renders a token more than once.',
        )

    def test_catalogs(self):
        # One of them for the caller's record.
        self.assertEqual(
            2,
            self.work['catalogs'],
            'A request builds more than its catalog, and that of a record.',
        )
        self.assertEqual(
            1,
            self.get_token(self.token, '?nocatalog')['catalogs'],
            'A request builds a catalog that neither it nor a record needs.',
        )

    def test_roles(self):
        self.assertEqual(
            2,
            self.work['roles'],
            'A request resolves the roles of a token more than once.',
        )

    def test_lookups(self):
        self.assertLessEqual(
            self.work['lookups'],
            24,
            'A warm validation takes more than 24 memoized look-ups.',
        )

    def test_statements(self):
        self.assertEqual(
            0, self.work['statements'], 'A warm validation asks the database.'
        )


class IssueTests(work.WorkTestCase):
    """One POST /v3/auth/tokens."""

    def test_roles(self):
        with self.counted() as done:
            self.issue_to_caller()

        self.assertEqual(
            1,
            done['roles'],
            'A token that is issued has its roles resolved again.',
        )


class RevocationTests(work.WorkTestCase):
    """One DELETE /v3/auth/tokens."""

    def setUp(self):
        super().setUp()
        first, token = self.issue(), self.issue()
        self.get_token(token)
        # An interval's pruning is not what a revocation costs.
        self.config_fixture.config(group='revoke', prune_interval=0)
        self.delete_token(first)
        self.work = self.delete_token(token)

    def test_validations(self):
        self.assertEqual(
            2,
            self.work['validations'],
            'A token that is to be revoked is validated more than once.',
        )

    def test_rendered_tokens(self):
        self.assertEqual(
            1,
            self.work['rendered'],
            "A revocation renders more than its caller's token.",
        )

    def test_catalogs(self):
        # That of the caller's record.
        self.assertEqual(
            1,
            self.work['catalogs'],
            "A revocation builds more than the catalog of its caller's token.",
        )

    def test_statements(self):
        # Together, or each of the two events on its own.
        together = importlib.util.find_spec(
            'keystone.revoke.backends.together'
        )
        number = 1 if together else 2
        self.assertEqual(
            (1 + number, number),
            (self.work['statements'], self.work['commits']),
            'A revocation takes more than an INSERT for each commit, and one '
            'query of the events before it.',
        )
