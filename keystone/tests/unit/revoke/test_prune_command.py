# SPDX-License-Identifier: Apache-2.0

import os
import signal
import types

from keystone.cmd.revocation import prune
from keystone.revoke.backends import sql as revoke_sql
from keystone.tests.unit.revoke import command_base
from keystone.tests.unit.revoke import prune_base

FORCE = '--let-revoked-tokens-become-valid-again'


class RevocationPruneTests(command_base.CommandTestCase):
    def prune(self, *words):
        return self.run_command('revocation_prune', '--sleep', '0', *words)

    def test_nothing_to_do(self):
        self.live(3)

        code, out, err = self.prune()

        self.assertEqual(0, code)
        self.assertIn('Deleted 0 events', out)
        self.assertIn('Stopped: no unlocked expired events left.', out)
        self.assertEqual('', err)
        self.assertEqual((0, 3), self.left())

    def test_one_batch(self):
        self.expired(7)
        self.live(3)

        code, out, _err = self.prune('--batch-size', '5')

        self.assertEqual(1, code)
        self.assertIn('Deleted 5 events', out)
        self.assertIn('maximum number of events reached', out)
        self.assertEqual((2, 3), self.left())

    def test_until_complete(self):
        self.expired(17)
        self.live(3)

        code, out, _err = self.prune('--batch-size', '5', '--until-complete')

        self.assertEqual(1, code)
        self.assertIn('Deleted 17 events', out)
        self.assertIn('Stopped: no unlocked expired events left.', out)
        self.assertEqual((0, 3), self.left())

    def test_max_rows(self):
        self.expired(17)

        code, out, _err = self.prune('--batch-size', '5', '--max-rows', '12')

        self.assertEqual(1, code)
        self.assertIn('Deleted 12 events', out)
        self.assertEqual((5, 0), self.left())

    def test_max_time(self):
        self.expired(7)

        code, out, _err = self.prune('--until-complete', '--max-time', '0')

        self.assertEqual(0, code)
        self.assertIn('Stopped: maximum time reached.', out)
        self.assertEqual((7, 0), self.left())

    def test_before(self):
        self.expired(7)
        before = self.cutoff - 3 * prune_base.SECOND

        code, _out, _err = self.prune('--before', before.isoformat() + 'Z')

        self.assertEqual(1, code)
        self.assertEqual((3, 0), self.left())

    def test_before_with_an_offset(self):
        self.expired(7)
        before = self.cutoff - 3 * prune_base.SECOND
        before += 3600 * prune_base.SECOND

        self.prune('--before', before.isoformat() + '+01:00')

        self.assertEqual((3, 0), self.left())

    def test_before_that_lets_tokens_become_valid_again(self):
        self.expired(7)
        self.live(5)
        before = self.clock.utcnow - 150 * prune_base.SECOND
        words = ('--until-complete', '--before', before.isoformat())
        self.assertRefused(4, 'tokens', 'revocation_prune', *words)

        code, out, _err = self.prune(FORCE, *words)

        self.assertEqual(1, code)
        self.assertIn('Deleted 10 events', out)
        self.assertEqual((0, 2), self.left())

    def test_before_that_is_in_the_future(self):
        self.live(1)

        self.assertRefused(
            4, 'future', 'revocation_prune', FORCE, '--before', '2099-01-01'
        )

    def test_dry_run(self):
        self.expired(7)
        self.live(3)

        for words, number in (
            (['--until-complete'], 7),
            (['--batch-size', '5'], 5),
            (['--max-rows', '6', '--batch-size', '2'], 6),
        ):
            code, out, _err = self.prune('--dry-run', *words)

            self.assertEqual(1, code)
            self.assertIn(f'{number} of 7 events', out)
            self.assertEqual((7, 3), self.left())

    def test_dry_run_with_nothing_to_do(self):
        code, out, _err = self.prune('--dry-run')

        self.assertEqual(0, code)
        self.assertIn('0 of 0 events', out)

    def test_verbose(self):
        self.expired(7)

        _code, out, _err = self.prune(
            '--verbose', '--until-complete', '--batch-size', '5'
        )

        lines = [line.split(',')[0] for line in out.splitlines()]
        self.assertEqual(
            ['Deleted 5 events', 'Deleted 2 events', 'Found no events.'],
            lines[:-1],
        )

    def test_progress(self):
        self.expired(7)
        self.patch(prune, '_PAUSE', 0)

        _code, out, _err = self.prune('--until-complete', '--batch-size', '5')

        lines = [line.split(',')[0] for line in out.splitlines()]
        self.assertEqual(['5 of 7', '7 of 7', '7 of 7'], lines[:-1])

    def test_time_left(self):
        for deleted, most, words in (
            (0, 1000, '0 of 1,000'),
            (90, 1000, '90 of 1,000, 9/s, 0:01:41 left'),
            # Others have expired in the meantime.
            (7, 5, '5 of 5, 0/s, 0:00:00 left'),
            (7, 0, '0 of 0'),
        ):
            run = types.SimpleNamespace(deleted=deleted, seconds=10)
            progress = prune.RevocationPrune()._progress(run, most)
            self.assertEqual(words, progress)

    def test_nonsense(self):
        self.expired(3)
        self.live(3)
        for code, about, *words in (
            (2, 'must be 1 or greater', '--batch-size', '0'),
            (2, 'must be 1 or greater', '--batch-size', '-1'),
            (2, 'not a number', '--batch-size', 'many'),
            (2, 'must be 1 or greater', '--max-rows', '0'),
            (2, 'greater than', '--batch-size', '10', '--max-rows', '5'),
            (2, 'greater than', '--max-rows', '5'),
            (2, 'must be 0 or greater', '--max-time', '-1'),
            (2, 'must be 0 or greater', '--sleep', '-1'),
            (2, 'must be 0 or greater', '--sleep', 'nan'),
            (2, 'must be 0 or greater', '--sleep', 'inf'),
            (4, 'not a date', '--before', 'yesterday'),
            (4, 'not a date', '--before', '2026-02-30'),
            (4, 'not a date', '--before', '0001-01-01T00:00+01:00'),
        ):
            self.assertRefused(code, about, 'revocation_prune', *words)

    def test_a_driver_that_cannot_prune(self):
        self.expired(3)
        self.config(group='revoke', driver='no such driver')
        self.assertRaises(ImportError, self.prune)

    def test_the_database_cannot_be_read(self):
        self.take_away()
        self.addCleanup(self.bring_back)

        code, out, err = self.prune()

        self.assertEqual((3, ''), (code, out))
        self.assertIn('no such table', err)
        self.assertEqual(1, len(err.splitlines()))

    def during_a_batch(self, number, act):
        """Call a function after a number of batches."""
        prune_events = revoke_sql.Revoke.prune_events
        calls = []

        def interrupted(*args):
            calls.append(args)
            if len(calls) > number:
                act()
            return prune_events(*args)

        self.patch(revoke_sql.Revoke, 'prune_events', interrupted)

    def test_the_database_fails_in_between(self):
        self.expired(7)
        self.during_a_batch(1, self.take_away)
        self.addCleanup(self.bring_back)

        code, out, err = self.prune('--until-complete', '--batch-size', '5')

        self.assertEqual((255, ''), (code, out))
        self.assertIn('after 5 deleted events', err)

    def test_signals_end_it_after_the_batch(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            usual = signal.getsignal(number)
            second = []

            def act(number=number, second=second):
                os.kill(os.getpid(), number)
                # The next one is the system's.
                second.append(signal.getsignal(number))

            self.expired(7)
            self.during_a_batch(0, act)

            code, out, _err = self.prune(
                '--until-complete', '--batch-size', '5'
            )

            self.assertEqual(1, code)
            self.assertIn('Deleted 5 events', out)
            self.assertIn('Stopped: interrupted.', out)
            self.assertEqual([signal.SIG_DFL], second)
            self.assertEqual(usual, signal.getsignal(number))
            self.delete()
