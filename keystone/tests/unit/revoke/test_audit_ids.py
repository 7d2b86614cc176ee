# SPDX-License-Identifier: Apache-2.0

import base64
import random
import secrets

from keystone.revoke import tree
from keystone.tests import unit
from keystone.tests.unit.revoke import samples


def name(*numbers):
    """An audit id of 16 bytes, the last ones as given."""
    raw = bytes(16 - len(numbers)) + bytes(numbers)
    return base64.urlsafe_b64encode(raw)[:22].decode()


class AuditIdsTests(unit.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.ids = tree._AuditIds(('audit_id',))

    def is_revoked(self, value, issued_at):
        return self.ids.is_revoked({'audit_id': value}, issued_at)

    def test_up_to_the_second(self):
        value = secrets.token_urlsafe(16)
        self.assertFalse(self.is_revoked(value, 0))
        self.ids.add(value, 500, 400)
        for issued_at, revoked in ((499, True), (500, True), (501, False)):
            self.assertEqual(revoked, self.is_revoked(value, issued_at))
        self.assertFalse(self.is_revoked(None, 0))
        self.assertFalse(self.is_revoked(name(1), 0))

    def test_latest_of_several(self):
        for issued_before, revoked_at in ((5, 9000), (9, 7000), (7, 8000)):
            self.ids.add(name(1), issued_before, revoked_at)
        self.assertEqual(1, len(self.ids))
        self.ids.expire(9000)
        self.assertTrue(self.is_revoked(name(1), 9))
        self.assertFalse(self.is_revoked(name(1), 10))
        self.ids.expire(9000 + 1024)
        self.assertFalse(self.is_revoked(name(1), 0))
        self.assertEqual(0, len(self.ids))

    def test_what_is_no_audit_id(self):
        right = secrets.token_urlsafe(16)
        self.ids.add(right, 1, 1)
        for value in (
            'a', '', right[:21], f'{right}A', f'{right[:-1]}!', 'é' * 22,
            f'{right}==', f' {right}', f'{right[:21]}B', right[:21] + '-',
            '0' * 32,
        ):  # fmt: skip
            self.assertFalse(self.is_revoked(value, 0), value)
            self.ids.add(value, 2, 2)
            self.assertTrue(self.is_revoked(value, 2), value)
        self.assertFalse(self.is_revoked(right, 2))
        for issued_before in (-1, 1 << 32):
            self.ids.add(right, issued_before, 1 << 32)
        self.assertTrue(self.is_revoked(right, 1 << 32))
        self.assertFalse(self.is_revoked(right, (1 << 32) + 1))

    def test_bytes_of_one_record_that_run_into_the_next(self):
        # An id that stands across the border of two others, or in the times.
        zeros = name(0)
        self.ids.add(name(7), 0, 0)
        self.ids.add(name(8), 0, 0)
        self.assertFalse(self.is_revoked(zeros, 0))
        self.ids.add(zeros, 3, 3)
        self.assertTrue(self.is_revoked(zeros, 3))
        for number in range(200):
            self.ids.add(name(1, number, 0), 1, number)
        self.assertEqual(203, len(self.ids))

    def test_as_a_dict_does(self):
        rng = random.Random(5)
        known = {}
        names = [name(rng.randrange(4), rng.randrange(90)) for _ in range(300)]
        for now in range(0, 30_000, 7):
            value = rng.choice(names)
            issued_before = now + rng.randrange(-500, 500)
            if issued_before >= 0:
                self.ids.add(value, issued_before, now)
                issued, _ = known.get(value, (0, 0))
                known[value] = max(issued, issued_before), now
            if not rng.randrange(20):
                before = now - 9000
                self.ids.expire(before)
                for each, (_, last) in list(known.items()):
                    is_live = self.is_revoked(each, 0)
                    self.assertTrue(is_live or last < before)
                    self.assertFalse(is_live and last < before - 1024)
                    if not is_live:
                        del known[each]
                self.assertEqual(len(known), len(self.ids))
            value, issued_at = rng.choice(names), rng.randrange(now + 1)
            self.assertEqual(
                known.get(value, (-1, 0))[0] >= issued_at,
                self.is_revoked(value, issued_at),
            )


class TreeTests(unit.BaseTestCase):
    """The tree has them beside its other events."""

    def test_tokens_and_chains(self):
        mine, root = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
        events = tree.RevocationTree()
        events.add(samples.Row(audit_id=mine))
        events.add(samples.Row(audit_chain_id=root))
        events.add(samples.Row(audit_id='another kind of id'))
        for values, revoked in (
            ({'audit_id': mine}, True),
            ({'audit_id': mine, 'audit_chain_id': mine}, True),
            ({'audit_id': 'a', 'audit_chain_id': mine}, False),
            ({'audit_id': 'a', 'audit_chain_id': root}, True),
            ({'audit_id': root}, True),
            ({'audit_id': root, 'audit_chain_id': 'a'}, False),
            ({'audit_id': 'another kind of id'}, True),
            ({'audit_id': mine, 'issued_at': samples.seconds(1)}, False),
        ):
            self.assertEqual(
                revoked, events.is_revoked(samples.token(**values)), values
            )
        self.assertEqual(
            {('audit_id',): 2, ('audit_chain_id',): 1}, events.counts()
        )
        events.expire(samples.seconds(2000))
        self.assertEqual({}, events.counts())

    def test_times_that_a_record_cannot_hold(self):
        mine = secrets.token_urlsafe(16)
        events = tree.RevocationTree()
        for year in (1900, 2200):
            moment = samples.NOON.replace(year=year)
            events.add(
                samples.Row(
                    audit_id=mine, issued_before=moment, revoked_at=moment
                )
            )
        for year, revoked in ((2026, True), (2200, True), (2201, False)):
            issued_at = samples.NOON.replace(year=year)
            self.assertEqual(
                revoked,
                events.is_revoked(
                    samples.token(audit_id=mine, issued_at=issued_at)
                ),
            )
