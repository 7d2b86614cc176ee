# SPDX-License-Identifier: Apache-2.0

import datetime
import itertools

import fixtures

from keystone.models import revoke_matching
from keystone.models import revoke_model
from keystone.tests import unit

ISSUED = datetime.datetime(2026, 11, 2, 10, 0, 0)
EXPIRES = datetime.datetime(2026, 11, 2, 11, 0, 0)
SECOND = datetime.timedelta(seconds=1)

# (attribute of the event, value of the token that meets it)
ALTERNATIVES = (
    ('user_id', 'user_id'),
    ('user_id', 'trustor_id'),
    ('user_id', 'trustee_id'),
    ('project_id', 'project_id'),
    ('trust_id', 'trust_id'),
    ('consumer_id', 'consumer_id'),
    ('access_token_id', 'access_token_id'),
    ('audit_id', 'audit_id'),
    ('audit_chain_id', 'audit_chain_id'),
    ('domain_id', 'identity_domain_id'),
    ('domain_id', 'assignment_domain_id'),
)


def token_values(**values):
    return {**revoke_model.blank_token_data(ISSUED), 'roles': [], **values}


def event(**attributes):
    attributes.setdefault('issued_before', ISSUED)
    return revoke_model.RevokeEvent(**attributes)


class MatchingTests(unit.BaseTestCase):
    def assertMatch(self, an_event, values):
        self.assertTrue(
            revoke_matching.matches(an_event, values), (vars(an_event), values)
        )

    def assertNoMatch(self, an_event, values):
        self.assertFalse(
            revoke_matching.matches(an_event, values), (vars(an_event), values)
        )

    def test_an_attribute_meets_each_of_its_alternatives(self):
        for attribute, key in ALTERNATIVES:
            self.assertMatch(
                event(**{attribute: 'x'}), token_values(**{key: 'x'})
            )

    def test_an_attribute_meets_no_other_value(self):
        for attribute, key in ALTERNATIVES:
            self.assertNoMatch(
                event(**{attribute: 'x'}), token_values(**{key: 'y'})
            )

    def test_an_attribute_meets_nothing_outside_its_alternatives(self):
        keys = set(token_values()) - {'issued_at', 'expires_at', 'roles'}
        for attribute in {attribute for attribute, key in ALTERNATIVES}:
            own = {key for name, key in ALTERNATIVES if name == attribute}
            if attribute == 'audit_chain_id':
                own.add('audit_id')
            others = dict.fromkeys(keys - own, 'x')
            self.assertNoMatch(
                event(**{attribute: 'x'}), token_values(**others)
            )

    def test_a_token_without_the_value_is_not_met(self):
        for attribute in {attribute for attribute, key in ALTERNATIVES}:
            self.assertNoMatch(event(**{attribute: 'x'}), token_values())
            self.assertNoMatch(
                event(**{attribute: 'x'}), {'issued_at': ISSUED}
            )

    def test_every_attribute_must_be_met(self):
        firsts = dict(reversed(ALTERNATIVES))
        for one, two in itertools.combinations(sorted(firsts), 2):
            both = event(**{one: 'x', two: 'y'})
            met = {firsts[one]: 'x', firsts[two]: 'y'}
            self.assertMatch(both, token_values(**met))
            for name in met:
                self.assertNoMatch(both, token_values(**{**met, name: 'z'}))
                self.assertNoMatch(both, token_values(**{**met, name: None}))

    def test_id_by_which_a_database_finds_another_spelling(self):
        alternatives = [
            (attribute, key)
            for attribute, key in ALTERNATIVES
            if attribute in ('user_id', 'project_id')
        ]
        for attribute, key in alternatives:
            for spelling in ('ABC', 'abc ', 'Abc  '):
                named = event(**{attribute: spelling})
                self.assertMatch(named, token_values(**{key: 'abc'}))
                self.assertMatch(named, token_values(**{key: spelling}))
                self.assertNoMatch(named, token_values(**{key: 'abd'}))
            self.assertNoMatch(
                event(**{attribute: 'abc'}), token_values(**{key: 'ABC'})
            )

    def test_audit_id_has_one_spelling(self):
        self.assertNoMatch(event(audit_id='A'), token_values(audit_id='a'))

    def test_chain_meets_its_root(self):
        chain = event(audit_chain_id='root')
        self.assertMatch(chain, token_values(audit_id='root'))
        self.assertMatch(
            chain, token_values(audit_id='child', audit_chain_id='root')
        )

    def test_chain_named_after_a_child_meets_nothing(self):
        self.assertNoMatch(
            event(audit_chain_id='child'),
            token_values(audit_id='child', audit_chain_id='root'),
        )

    def test_role_is_one_of_the_tokens(self):
        self.assertMatch(event(role_id='b'), token_values(roles=['a', 'b']))
        self.assertNoMatch(event(role_id='c'), token_values(roles=['a', 'b']))
        self.assertNoMatch(event(role_id='c'), token_values(roles=[]))

    def test_roles_are_read_for_events_that_name_one_only(self):
        class Values(dict):
            def get(self, key, default=None):
                if key == 'roles':
                    raise AssertionError('roles were read')
                return super().get(key, default)

        values = Values(token_values(user_id='x'))
        self.assertMatch(event(user_id='x'), values)
        self.assertNoMatch(event(user_id='y', role_id='a'), values)
        self.assertRaises(
            AssertionError,
            revoke_matching.matches,
            event(user_id='x', role_id='a'),
            values,
        )

    def test_expiry_in_whole_seconds(self):
        self.assertMatch(
            event(expires_at=EXPIRES),
            token_values(expires_at=EXPIRES.replace(microsecond=7)),
        )
        self.assertMatch(
            event(expires_at=EXPIRES.replace(microsecond=7)),
            token_values(expires_at=EXPIRES),
        )
        self.assertNoMatch(
            event(expires_at=EXPIRES),
            token_values(expires_at=EXPIRES + SECOND),
        )
        self.assertNoMatch(event(expires_at=EXPIRES), token_values())

    def test_domain_with_expiry_is_a_domain_scope(self):
        scope = event(domain_id='d', expires_at=EXPIRES)
        of_domain = {'expires_at': EXPIRES, 'assignment_domain_id': 'd'}
        self.assertMatch(scope, token_values(**of_domain))
        self.assertNoMatch(scope, token_values(**of_domain, project_id='p'))
        self.assertNoMatch(
            scope, token_values(expires_at=EXPIRES, identity_domain_id='d')
        )
        self.assertNoMatch(
            scope,
            token_values(**{**of_domain, 'expires_at': EXPIRES + SECOND}),
        )

    def test_names_of_a_domain_scope_event(self):
        self.assertEqual(
            {'domain_scope_id': 'd', 'expires_at': EXPIRES},
            revoke_matching.named(event(domain_id='d', expires_at=EXPIRES)),
        )

    def test_names_of_a_domain_event(self):
        self.assertEqual(
            {'domain_id': 'd'}, revoke_matching.named(event(domain_id='d'))
        )

    def test_all_columns_of_the_table_have_a_meaning(self):
        self.assertEqual(
            {*revoke_model.REVOKE_KEYS, 'domain_scope_id'},
            {*revoke_matching.CANDIDATES, 'issued_before', 'revoked_at'},
        )

    def test_issued_before_includes_its_own_second(self):
        values = token_values(user_id='x')
        for seconds, expected in ((-1, False), (0, True), (1, True)):
            moment = ISSUED + seconds * SECOND
            self.assertEqual(
                expected,
                revoke_matching.matches(
                    event(user_id='x', issued_before=moment), values
                ),
            )

    def test_fraction_of_the_issue_time_does_not_hide_a_token(self):
        values = token_values(
            user_id='x', issued_at=ISSUED.replace(microsecond=999999)
        )
        self.assertMatch(event(user_id='x'), values)
        self.assertNoMatch(
            event(user_id='x', issued_before=ISSUED - SECOND), values
        )

    def test_time_of_issue_is_required(self):
        self.assertRaises(
            KeyError,
            revoke_matching.matches,
            event(user_id='x'),
            {'user_id': 'x'},
        )

    def test_blank_event_meets_all_earlier_tokens_and_is_logged_once(self):
        log = self.useFixture(fixtures.FakeLogger())
        revoke_matching.warn_of_blank_event.cache_clear()
        blank = event()
        self.assertMatch(blank, token_values(user_id='x'))
        self.assertMatch(blank, token_values(user_id='y'))
        self.assertNoMatch(blank, token_values(issued_at=ISSUED + SECOND))
        self.assertEqual(1, log.output.count('without attributes'))

    def test_named_events_are_not_logged(self):
        log = self.useFixture(fixtures.FakeLogger())
        self.assertMatch(event(user_id='x'), token_values(user_id='x'))
        self.assertEqual('', log.output)
