# SPDX-License-Identifier: Apache-2.0

from keystone.tests import unit
from keystone.tests.unit.performance.revoke import measures
from keystone.tests.unit.revoke import differential
from keystone.tests.unit.revoke import samples

# What Keystone writes.
KINDS = (
    ('audit_id',),
    ('audit_chain_id',),
    ('user_id',),
    ('project_id',),
    ('trust_id',),
    ('consumer_id',),
    ('domain_id',),
    ('access_token_id',),
)

MIXED = (
    ('audit_id',),
    ('audit_chain_id',),
    ('user_id',),
    ('user_id', 'project_id'),
)

# What is not stored as audit ids.
OTHERS = (
    ('user_id',),
    ('project_id',),
    ('trust_id',),
    ('user_id', 'project_id'),
)

AUDIT_IDS = (('audit_id',), ('audit_chain_id',))

_DAYS = 3 * 86400


class CheckTests(unit.BaseTestCase):
    """A check does the same work for any number of events."""

    def _measure(self, kinds, count, values):
        events = measures.filled(kinds, count)
        self.assertEqual(count, len(events))
        spared = measures.comparisons(events, values)
        calls = measures.calls(events.is_revoked, values)
        self.assertFalse(events.is_revoked(values))

        own = {**values, 'domain_id': values['identity_domain_id']}
        for attributes in set(kinds):
            events.add(samples.Row(**{name: own[name] for name in attributes}))
        self.assertTrue(events.is_revoked(values))
        return spared, calls, measures.comparisons(events, values)

    def _assert_same_work(self, kinds, most_lookups):
        values = measures.token()
        few = self._measure(kinds, 10, values)
        many = self._measure(kinds, 100_000, values)
        self.assertEqual(few, many)
        (lookups, compared), _calls, (_hits, met) = few
        self.assertLessEqual(lookups, most_lookups)
        self.assertEqual(0, compared)
        if not set(kinds) & set(AUDIT_IDS):
            self.assertGreater(lookups, 0)
            self.assertGreater(met, 0)

    def test_audit_events(self):
        self._assert_same_work([('audit_id',)], 1)

    def test_chain_events(self):
        self._assert_same_work([('audit_chain_id',)], 1)

    def test_user_events(self):
        self._assert_same_work([('user_id',)], 1)

    def test_project_events(self):
        self._assert_same_work([('project_id',)], 1)

    def test_domain_events(self):
        self._assert_same_work([('domain_id',)], 2)

    def test_mixed_events(self):
        self._assert_same_work(MIXED, 3)


class MemoryTests(unit.BaseTestCase):
    """An event takes at most 250 bytes, its id and its expiry included."""

    def _assert_small(self, attributes, count, step=None):
        for number, size in measures.bytes_per_event(
            attributes, count, _DAYS, step
        ):
            self.assertGreater(size, 50)
            self.assertLessEqual(size, 250, f'{attributes}, {number} events')

    def test_each_kind_where_events_are_rare(self):
        for attributes in KINDS:
            self._assert_small(attributes, 1000)

    def test_at_any_number(self):
        # Just after it has grown, a table is largest for what is in it.
        self._assert_small(('user_id',), 100_000, step=4000)

    def test_audit_ids(self):
        """What a user without any role can make takes the least."""
        for attribute, count, most in (
            ('audit_id', 100_000, 60),
            ('audit_chain_id', 10_000, 100),
        ):
            ((_number, size),) = measures.bytes_per_event(
                (attribute,), count, _DAYS
            )
            self.assertLessEqual(size, most, attribute)

    def test_like_events_take_no_more_than_one(self):
        events = measures.filled([('user_id',)], 10)
        row = measures.event(('user_id',), 10)
        events.add(row)
        for second in range(10, 5000):
            row.revoked_at = row.issued_before = samples.seconds(second)
            events.add(row)
        self.assertEqual(11, len(events))
        (users,) = events._events.values()
        self.assertEqual(11, sum(map(len, users.filed.values())))


class ChangeTests(unit.BaseTestCase):
    """Adding and expiring cost the same for any number of events."""

    def _add(self, count):
        events = measures.filled(OTHERS, count)
        rows = [
            measures.event(OTHERS[number % len(OTHERS)], count + number)
            for number in range(1000)
        ]
        return measures.calls(lambda: [events.add(row) for row in rows])

    def test_add_and_expire_audit_ids(self):
        found = [self._audit_ids(count) for count in (20_000, 100_000)]
        for few, many in zip(*found, strict=True):
            self.assertLess(many, 1.1 * few)

    def _audit_ids(self, count):
        events = measures.filled(AUDIT_IDS, count)
        rows = [
            measures.event(AUDIT_IDS[number % 2], count + number)
            for number in range(1000)
        ]
        added = measures.calls(lambda: [events.add(row) for row in rows])
        expired = measures.calls(events.expire, samples.seconds(10_000))
        self.assertLess(abs(count - 9000 - len(events)), 1100)
        return added, expired

    def test_add(self):
        self.assertLess(self._add(100_000), 1.1 * self._add(1000))

    def _expire(self, count, step):
        events = measures.filled(OTHERS, count)

        def expire():
            for second in range(step, 4001, step):
                events.expire(samples.seconds(second))

        calls = measures.calls(expire)
        self.assertLess(abs(count - 3500 - len(events)), 600)
        return calls

    def test_expire(self):
        self.assertLess(
            self._expire(100_000, step=1), 1.1 * self._expire(5000, step=1)
        )

    def test_expire_in_small_steps(self):
        # Each step costs some, but does not go through all events.
        self.assertLess(self._expire(5000, step=1), 50 * 4000)

    def test_expire_nothing(self):
        few, many = (
            measures.filled(OTHERS, count) for count in (1000, 100_000)
        )
        before = samples.seconds(0)
        self.assertEqual(
            measures.calls(few.expire, before),
            measures.calls(many.expire, before),
        )


class DifferentialTests(unit.BaseTestCase):
    def test_million_pairs(self):
        revoked = differential.compare(pairs=1_000_000, seed=30)
        self.assertGreater(revoked, 200_000)
        self.assertLess(revoked, 800_000)
