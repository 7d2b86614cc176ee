# SPDX-License-Identifier: Apache-2.0

import random

from keystone.models import revoke_model
from keystone.revoke import tree
from keystone.tests import unit
from keystone.tests.unit.revoke.samples import Row
from keystone.tests.unit.revoke.samples import seconds
from keystone.tests.unit.revoke.samples import token
from keystone.tests.unit.revoke.samples import tree_of


class AttributeTests(unit.BaseTestCase):
    def assertRevokes(self, event, values):
        self.assertTrue(tree_of(event).is_revoked(values), values)

    def assertSpares(self, event, values):
        self.assertFalse(tree_of(event).is_revoked(values), values)

    def test_empty_tree_revokes_nothing(self):
        self.assertFalse(tree.RevocationTree().is_revoked(token()))

    def test_each_id_by_itself(self):
        for name in (
            'user_id',
            'project_id',
            'trust_id',
            'consumer_id',
            'access_token_id',
            'audit_id',
        ):
            event = Row(**{name: 'a'})
            self.assertRevokes(event, token(**{name: 'a'}))
            self.assertSpares(event, token(**{name: 'b'}))
            self.assertSpares(event, token())

    def test_id_by_which_a_database_finds_another_spelling(self):
        for spelling in ('ABC', 'abc ', 'Abc  '):
            event = Row(user_id=spelling, project_id='P', audit_id='A')
            for ids in (('abc', 'p'), (spelling, 'P')):
                values = dict(zip(('user_id', 'project_id'), ids))
                self.assertRevokes(event, token(**values, audit_id='A'))
                self.assertSpares(event, token(**values, audit_id='a'))
            self.assertSpares(
                event, token(user_id='abd', project_id='p', audit_id='A')
            )

    def test_user_is_met_as_trustor_and_trustee(self):
        for name in ('trustor_id', 'trustee_id'):
            values = token(user_id='b', **{name: 'a'})
            self.assertRevokes(Row(user_id='a'), values)

    def test_chain_is_that_of_the_parent(self):
        event = Row(audit_chain_id='a')
        self.assertRevokes(event, token(audit_id='b', audit_chain_id='a'))
        self.assertSpares(event, token(audit_id='a', audit_chain_id='b'))

    def test_chain_meets_its_root(self):
        self.assertRevokes(Row(audit_chain_id='a'), token(audit_id='a'))

    def test_domain_is_that_of_user_or_scope(self):
        event = Row(domain_id='a')
        self.assertRevokes(event, token(identity_domain_id='a'))
        self.assertRevokes(event, token(assignment_domain_id='a'))
        self.assertRevokes(
            event, token(assignment_domain_id='a', project_id='p')
        )
        self.assertSpares(event, token(identity_domain_id='b'))

    def test_domain_with_expiry_is_the_scope_alone(self):
        event = Row(domain_id='a', expires_at=seconds(60))
        values = {'expires_at': seconds(60), 'assignment_domain_id': 'a'}
        self.assertRevokes(event, token(**values))
        self.assertSpares(event, token(**values, project_id='p'))
        self.assertSpares(
            event, token(expires_at=seconds(60), identity_domain_id='a')
        )
        self.assertSpares(event, token(assignment_domain_id='a'))

    def test_event_of_the_model_keeps_its_domain_scope(self):
        event = revoke_model.RevokeEvent(
            domain_id='a', expires_at=seconds(60), issued_before=seconds(0)
        )
        self.assertRevokes(
            event, token(expires_at=seconds(60), assignment_domain_id='a')
        )
        self.assertSpares(
            event, token(expires_at=seconds(60), assignment_domain_id='b')
        )

    def test_expiry_counts_whole_seconds(self):
        late = seconds(60).replace(microsecond=999_999)
        self.assertRevokes(Row(expires_at=late), token(expires_at=seconds(60)))
        self.assertRevokes(Row(expires_at=seconds(60)), token(expires_at=late))
        self.assertSpares(
            Row(expires_at=seconds(60)), token(expires_at=seconds(61))
        )

    def test_token_issued_in_the_second_of_the_event_is_revoked(self):
        event = Row(user_id='a')
        late = seconds(0).replace(microsecond=999_999)
        self.assertRevokes(event, token(user_id='a', issued_at=late))
        self.assertSpares(event, token(user_id='a', issued_at=seconds(1)))

    def test_every_attribute_has_to_match(self):
        event = Row(user_id='a', project_id='b', trust_id='c')
        values = {'user_id': 'a', 'project_id': 'b', 'trust_id': 'c'}
        self.assertRevokes(event, token(**values))
        for name in values:
            self.assertSpares(event, token(**{**values, name: 'x'}))
            self.assertSpares(event, token(**{**values, name: None}))

    def test_same_id_in_other_attribute_is_no_match(self):
        self.assertSpares(Row(project_id='a'), token(user_id='a'))
        self.assertSpares(Row(domain_id='a'), token(project_id='a'))

    def test_event_without_attributes_revokes_all_earlier_tokens(self):
        self.assertRevokes(Row(), token())
        self.assertSpares(Row(), token(issued_at=seconds(1)))

    def test_event_without_attributes_is_logged_once(self):
        moment = seconds(random.Random().randrange(10**8))
        events = tree_of(Row(issued_before=moment))
        events.add(Row(issued_before=moment))
        tree_of(Row(issued_before=moment))
        self.assertEqual(
            1, self.stdlog.logger.output.count('revokes every token')
        )
        self.assertIn(str(moment), self.stdlog.logger.output)


class RoleTests(unit.BaseTestCase):
    def test_any_effective_role_matches(self):
        events = tree_of(Row(role_id='a'))
        self.assertTrue(events.is_revoked(token(roles=['b', 'a'])))
        self.assertFalse(events.is_revoked(token(roles=['b'])))
        self.assertFalse(events.is_revoked(token(roles=None)))

    def test_role_of_a_user(self):
        events = tree_of(Row(role_id='a', user_id='u'))
        self.assertTrue(events.is_revoked(token(roles=['a'], user_id='u')))
        self.assertFalse(events.is_revoked(token(roles=['b'], user_id='u')))
        self.assertFalse(events.is_revoked(token(roles=['a'], user_id='v')))

    def test_later_event_with_an_earlier_time_hides_no_other(self):
        events = tree_of(
            Row(role_id='a', issued_before=seconds(9)),
            Row(role_id='b', issued_before=seconds(1)),
        )
        values = {'issued_at': seconds(5)}
        self.assertTrue(events.is_revoked(token(roles=['a'], **values)))
        self.assertFalse(events.is_revoked(token(roles=['b'], **values)))

    def test_several_events(self):
        events = tree_of(
            Row(role_id='a', user_id='u'),
            Row(role_id='a', project_id='p'),
            Row(role_id='b'),
        )
        about = {'user_id': 'u', 'project_id': 'p'}
        self.assertFalse(events.is_revoked(token(roles=['c'], **about)))
        self.assertTrue(events.is_revoked(token(roles=['c', 'b'], **about)))
        self.assertTrue(events.is_revoked(token(roles=['a'], project_id='p')))

    def test_token_issued_later(self):
        events = tree_of(Row(role_id='a', user_id='u'))
        later = token(roles=['a'], user_id='u', issued_at=seconds(1))
        self.assertFalse(events.is_revoked(later))

    def test_event_that_expired(self):
        for row in (Row(role_id='a'), Row(role_id='a', user_id='u')):
            events = tree_of(row)
            events.expire(seconds(1024))
            values = token(roles=['a'], user_id='u')
            self.assertFalse(events.is_revoked(values))
