# SPDX-License-Identifier: Apache-2.0

import datetime
import random

import fixtures
import hypothesis
from hypothesis import strategies

from keystone.models import revoke_matching
from keystone.models import revoke_model
from keystone.revoke import tree
from keystone.tests import unit
from keystone.tests.unit.revoke import differential
from keystone.tests.unit.revoke import oracle
from keystone.tests.unit.revoke import samples
from keystone.tests.unit.revoke.samples import Row
from keystone.tests.unit.revoke.samples import seconds
from keystone.tests.unit.revoke.samples import token
from keystone.tests.unit.revoke.samples import tree_of

_SETTINGS = hypothesis.settings(
    max_examples=300,
    deadline=None,
    database=None,
    derandomize=True,
    # A machine that is busy is no failure.
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)


class SpanTestCase(unit.BaseTestCase):
    """Events expire second by second."""

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch('keystone.revoke.tree.SPAN', 1))


class ChangeTests(SpanTestCase):
    def test_like_events_are_one(self):
        events = tree_of(*[Row(user_id='a')] * 1000)
        self.assertEqual(1, len(events))

    def test_latest_times_count_in_any_order(self):
        early = Row('a', issued_before=seconds(5), revoked_at=seconds(9))
        late = Row('a', issued_before=seconds(9), revoked_at=seconds(5))
        for order in ((early, late), (late, early)):
            events = tree_of(*order)
            self.assertTrue(
                events.is_revoked(token(user_id='a', issued_at=seconds(9)))
            )
            events.expire(seconds(9))
            self.assertEqual(1, len(events))
            events.expire(seconds(10))
            self.assertEqual(0, len(events))
            self.assertFalse(events.is_revoked(token(user_id='a')))

    def test_expiry_second_by_second(self):
        moments = [seconds(count) for count in range(0, 5000, 7)]
        events = tree.RevocationTree()
        for number, moment in enumerate(moments):
            events.add(Row(user_id=str(number), revoked_at=moment))
        for cutoff in range(0, 5100, 50):
            events.expire(seconds(cutoff))
            left = sum(moment >= seconds(cutoff) for moment in moments)
            self.assertEqual(left, len(events))

    def test_expiry_is_late_by_a_span_at_most(self):
        self.useFixture(
            fixtures.MonkeyPatch('keystone.revoke.tree.SPAN', 1024)
        )
        events = tree.RevocationTree()
        for number in range(5000):
            events.add(Row(user_id=str(number), revoked_at=seconds(number)))
        for cutoff in range(0, 5000, 50):
            events.expire(seconds(cutoff))
            self.assertLessEqual(5000 - cutoff, len(events))
            self.assertGreater(5000 - cutoff + 1024, len(events))

    def test_event_older_than_the_last_cutoff_expires_too(self):
        events = tree_of(Row(user_id='a', revoked_at=seconds(5000)))
        events.expire(seconds(4000))
        events.add(Row(user_id='b', revoked_at=seconds(10)))
        self.assertTrue(events.is_revoked(token(user_id='b')))
        events.expire(seconds(4000))
        self.assertEqual({('user_id',): 1}, events.counts())

    def test_event_and_a_longer_one_expire_apart(self):
        user = {'user_id': 'a'}
        both = {'user_id': 'a', 'project_id': 'p'}
        for first, last, revoked in ((user, both, False), (both, user, True)):
            events = tree_of(
                Row(**first), Row(**last, revoked_at=seconds(100))
            )
            self.assertEqual(2, len(events))
            events.expire(seconds(50))
            self.assertEqual(1, len(events))
            self.assertEqual(revoked, events.is_revoked(token(**user)))
            self.assertTrue(events.is_revoked(token(**both)))
            events.expire(seconds(200))
            self.assertFalse(events.is_revoked(token(**both)))
            self.assertEqual({}, events._events)

    def test_everything_can_expire_and_return(self):
        rng = random.Random(11)
        rows = [samples.random_event(rng) for _ in range(500)]
        events = tree_of(*rows)
        distinct = len(events)
        events.expire(datetime.datetime.max)
        self.assertEqual(0, len(events))
        self.assertEqual({}, events.counts())
        self.assertEqual({}, events._events)
        self.assertFalse(events.is_revoked(samples.random_token(rng)))

        for row in rows:
            events.add(row)
        self.assertEqual(distinct, len(events))

    def test_event_that_lacks_an_attribute_is_refused(self):
        for name in ('user_id', 'audit_id', 'issued_before', 'revoked_at'):
            row = Row(project_id='p')
            values = {k: v for k, v in vars(row).items() if k != name}
            events = tree.RevocationTree()
            self.assertRaises(
                AttributeError, events.add, type('Part', (), values)
            )
            self.assertEqual(0, len(events))
            self.assertFalse(events.is_revoked(token(project_id='p')))


class ReportTests(unit.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.events = tree_of(
            Row(user_id='u1', revoked_at=seconds(1)),
            Row(user_id='u2', revoked_at=seconds(2000)),
            Row(user_id='u3', revoked_at=seconds(4000)),
            Row(user_id='u1', project_id='p', expires_at=seconds(60)),
        )
        self.triple = ('user_id', 'project_id', 'expires_at')

    def test_counts_by_kind(self):
        self.assertEqual(
            {('user_id',): 3, self.triple: 1}, self.events.counts()
        )


class DifferentialTests(SpanTestCase):
    def _ask_all(self, quick, slow, tokens):
        self.assertEqual(len(slow), len(quick))
        for values in tokens:
            self.assertEqual(
                slow.is_revoked(values), quick.is_revoked(values), values
            )

    @_SETTINGS
    @hypothesis.given(
        strategies.lists(samples.events() | samples.times(6), max_size=12),
        strategies.lists(samples.tokens(), min_size=1, max_size=6),
    )
    def test_changes(self, changes, tokens):
        # A change is a new event, or a cutoff.
        quick, slow = tree.RevocationTree(), oracle.Oracle()
        for change in changes:
            if isinstance(change, datetime.datetime):
                cutoff = change.replace(microsecond=0)
                slow.expire(cutoff)
                quick.expire(cutoff)
            else:
                quick.add(Row(**change))
                slow.add(Row(**change))
            self._ask_all(quick, slow, tokens)

    @_SETTINGS
    @hypothesis.given(
        strategies.lists(samples.events(), max_size=8),
        strategies.lists(samples.tokens(), min_size=1, max_size=6),
    )
    def test_events_of_the_model(self, changes, tokens):
        events = [revoke_model.RevokeEvent(**change) for change in changes]
        quick = tree_of(*events)
        for values in tokens:
            expected = any(
                revoke_matching.matches(event, values) for event in events
            )
            self.assertEqual(expected, quick.is_revoked(values))

    def test_hundred_thousand_pairs(self):
        revoked = differential.compare(pairs=100_000, seed=20_261_120)
        # Neither answer is rare.
        self.assertGreater(revoked, 20_000)
        self.assertLess(revoked, 80_000)
