# SPDX-License-Identifier: Apache-2.0

import concurrent.futures
import gc
import os

from oslo_config import fixture as config_fixture

from keystone.common import password_hashing
import keystone.conf
from keystone import exception
from keystone.tests import unit
from keystone.tests.unit.password_checks import base

CONF = keystone.conf.CONF

_SECONDS = 60


class ChecksTestCase(unit.BaseTestCase):
    most = 10000

    def setUp(self):
        super().setUp()
        self.config_fixture = self.useFixture(config_fixture.Config(CONF))
        self.config(password_check_cache_time=_SECONDS, password_hash_rounds=4)
        self.hashes = self.useFixture(base.CountsHashes(self.most))

    def config(self, **options):
        self.config_fixture.config(group='identity', **options)

    def check(self, password, hashed):
        return password_hashing.check_password(password, hashed)


class ChecksTests(ChecksTestCase):
    """What is remembered, and what is not."""

    def setUp(self):
        super().setUp()
        self.hashed = password_hashing.hash_password('right')

    def assertHashes(self, count, password, hashed=None, is_right=True):
        """A check gives an answer, and computes so many hashes for it."""
        before = self.hashes.count
        answer = self.check(password, hashed or self.hashed)
        self.assertEqual(
            (is_right, count), (answer, self.hashes.count - before)
        )

    def test_right_one(self):
        self.assertHashes(1, 'right')
        for _ in range(3):
            self.assertHashes(0, 'right')

    def test_wrong_one(self):
        for _ in range(2):
            for _ in range(3):
                self.assertHashes(1, 'wrong', is_right=False)
            # Also while the right one is remembered.
            self.check('right', self.hashed)
        self.assertEqual(1, len(self.hashes.checks._right))

    def test_same_password_with_another_salt(self):
        other = password_hashing.hash_password('right')

        self.assertHashes(1, 'right')
        self.assertHashes(1, 'right', other)

        self.assertHashes(0, 'right')
        self.assertHashes(0, 'right', other)

    def test_right_one_of_another_hash(self):
        other = password_hashing.hash_password('other')
        self.check('right', self.hashed)
        self.check('other', other)

        self.assertHashes(1, 'right', other, is_right=False)
        self.assertHashes(1, 'other', self.hashed, is_right=False)

    def test_hash_ends_where_it_ends(self):
        class Agrees:
            count = 0

            def verify(self, password, hashed):
                self.count += 1
                return True

        hasher = Agrees()

        self.hashes.checks.verify(hasher, b'bc', 'a')
        self.hashes.checks.verify(hasher, b'c', 'ab')

        self.assertEqual(2, hasher.count)

    def test_each_algorithm(self):
        # With fewer, bcrypt_sha256 does not find its own hashes right.
        self.config(password_hash_rounds=10)
        for hasher in password_hashing.SUPPORTED_HASHERS:
            self.config(password_hash_algorithm=hasher.name)
            hashed = password_hashing.hash_password('right')
            self.assertHashes(1, 'right', hashed)
            self.assertHashes(0, 'right', hashed)
            self.assertHashes(1, 'wrong', hashed, is_right=False)

    def test_algorithm_was_changed(self):
        self.assertHashes(1, 'right')
        self.config(password_hash_algorithm='scrypt')

        self.assertHashes(0, 'right')
        self.assertHashes(1, 'right', password_hashing.hash_password('right'))

    def test_switched_off(self):
        self.config(password_check_cache_time=0)

        for _ in range(2):
            self.assertHashes(1, 'right')

        self.assertEqual(0, len(self.hashes.checks._right))

    def test_off_by_default(self):
        self.config_fixture.conf.clear_override(
            'password_check_cache_time', group='identity'
        )

        for _ in range(2):
            self.assertHashes(1, 'right')

    def test_no_password_or_no_hash(self):
        for args in ((None, self.hashed), ('right', None), (None, None)):
            self.assertFalse(self.check(*args))
        self.assertEqual(0, self.hashes.count)

    def test_unknown_algorithm(self):
        for _ in range(2):
            self.assertRaises(ValueError, self.check, 'right', '$9$unknown')
        self.assertEqual(0, len(self.hashes.checks._right))

    def test_lifetime(self):
        self.assertHashes(1, 'right')
        self.hashes.now += _SECONDS - 1
        self.assertHashes(0, 'right')
        # Using it has not made it last longer.
        self.hashes.now += 1
        self.assertHashes(1, 'right')

    def test_at_its_end_it_is_dropped_by_whatever_comes_next(self):
        self.check('right', self.hashed)
        self.hashes.now += _SECONDS

        self.check('wrong', self.hashed)

        self.assertEqual(set(), _digests(self.hashes.checks))

    def test_too_long(self):
        self.config(max_password_length=10)
        hashed = password_hashing.hash_password('0123456789')

        # Cut to what is hashed, so that it is the same password.
        self.assertHashes(1, '0123456789', hashed)
        self.assertHashes(0, '0123456789a', hashed)
        self.assertHashes(1, '012345678', hashed, is_right=False)

    def test_too_long_and_that_is_refused(self):
        self.config_fixture.config(strict_password_check=True)
        self.config(max_password_length=10)
        hashed = password_hashing.hash_password('0123456789')
        self.assertHashes(1, '0123456789', hashed)

        self.assertRaises(
            exception.PasswordVerificationError,
            self.check,
            '0123456789a',
            hashed,
        )

    def test_what_is_in_memory(self):
        other = self.useFixture(base.CountsHashes())
        for one in (self.hashes, other):
            one.checks.verify(
                password_hashing.bcrypt.Bcrypt, b'right', self.hashed
            )

        (ours,) = _digests(self.hashes.checks)
        (theirs,) = _digests(other.checks)

        # A digest, and under a key of its own in each process.
        self.assertEqual([32, 32], [len(ours), len(theirs)])
        self.assertNotEqual(ours, theirs)

    def test_forked_process(self):
        self.check('right', self.hashed)
        ours, theirs = os.pipe()
        child = os.fork()
        if not child:
            # Otherwise, it would continue as another test runner.
            try:
                found = self.hashes.of(self.check, 'right', self.hashed)
                os.write(theirs, bytes([found]))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        os.close(theirs)

        self.assertEqual(b'\1', os.read(ours, 1))
        os.close(ours)
        self.assertHashes(0, 'right')


class ManyTests(ChecksTestCase):
    """They are bounded in number."""

    most = 3

    def setUp(self):
        super().setUp()
        self.words = [str(number) for number in range(5)]
        self.stored = dict(
            zip(self.words, map(password_hashing.hash_password, self.words))
        )

    def costs(self, word):
        return self.hashes.of(self.check, word, self.stored[word])

    def test_the_one_used_longest_ago_goes(self):
        for word in '012':
            self.costs(word)
        self.costs('0')

        self.costs('3')

        self.assertEqual(3, len(self.hashes.checks._right))
        self.assertEqual([0, 0, 0], [self.costs(word) for word in '023'])
        self.assertEqual(1, self.costs('1'))

    def test_threads(self):
        def work(number):
            right = self.words[number % 5]
            wrong = self.words[(number + 1) % 5]
            return (
                self.check(right, self.stored[right]),
                self.check(wrong, self.stored[right]),
            )

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            found = set(pool.map(work, range(400)))

        self.assertEqual({(True, False)}, found)
        self.assertLessEqual(len(self.hashes.checks._right), 3)

    def test_time_goes_on_while_threads_look(self):
        # It may end between two looks at it.
        times = iter(range(1, 100000))
        self.config(password_check_cache_time=2)
        self.hashes.checks = type(self.hashes.checks)(lambda: next(times), 3)

        for _ in range(50):
            self.assertTrue(
                self.hashes.checks.verify(
                    password_hashing.bcrypt.Bcrypt, b'0', self.stored['0']
                )
            )


def _digests(checks):
    """All bytes that what is remembered still refers to."""
    found, seen, left = set(), set(), [checks._right]
    while left:
        one = left.pop()
        if isinstance(one, bytes):
            found.add(one)
        elif id(one) not in seen and not callable(one):
            seen.add(id(one))
            left.extend(gc.get_referents(one))
    return found
