# SPDX-License-Identifier: Apache-2.0

import datetime
import math
import signal

from oslo_utils import timeutils

from keystone.cmd.revocation import batches
from keystone.cmd.revocation import command
from keystone.revoke.backends import base
from keystone.revoke.backends import db_errors

_FORCE = '--let-revoked-tokens-become-valid-again'

# Further exit codes. As with the purge commands of other services, 0 and 1
# tell whether any events were deleted.
_WRONG_DATE = 4
_GIVEN_UP = 5

# Seconds between two lines about the progress.
_PAUSE = 10


class RevocationPrune(command.Command):
    """Delete expired revocation events in batches."""

    name = 'revocation_prune'

    @classmethod
    def add_arguments(cls, parser):
        parser.add_argument(
            '--batch-size',
            type=command.number(int, 1),
            default=500,
            metavar='NUMBER',
            help='Maximum number of events deleted per transaction. '
            '(Default: 500)',
        )
        parser.add_argument(
            '--max-rows',
            type=command.number(int, 1),
            metavar='NUMBER',
            help='Maximum number of events deleted in total. (Default: one '
            'batch, or unlimited with --until-complete)',
        )
        parser.add_argument(
            '--max-time',
            type=command.number(float, 0),
            default=math.inf,
            metavar='SECONDS',
            help='Stop starting new batches after this time. (Default: no '
            'limit)',
        )
        parser.add_argument(
            '--sleep',
            type=command.number(float, 0),
            default=0.1,
            metavar='SECONDS',
            help='Time to wait between batches. (Default: 0.1)',
        )
        parser.add_argument(
            '--before',
            metavar='DATE',
            help='Delete only events recorded before this date: '
            'YYYY-MM-DD[THH:MM[:SS]], in UTC unless an offset is given. '
            '(Default: all expired events)',
        )
        parser.add_argument(
            '--until-complete',
            action='store_true',
            help='Run until no unlocked expired events are left.',
        )
        parser.add_argument(
            '--dry-run',
            action='store_true',
            help='Print how many events would be deleted, without deleting '
            'them.',
        )
        parser.add_argument(
            '--verbose', action='store_true', help='Print each batch.'
        )
        parser.add_argument(
            _FORCE,
            action='store_true',
            dest='force',
            help='Allow --before to delete events of tokens that have not '
            'yet expired.',
        )

    def run(self, options):
        before = self._before(options)
        max_rows = self._max_rows(options)
        driver = self.driver()
        total = self.read(driver.count_events, command.FIRST, before)
        most = min(total, max_rows)
        if options.dry_run:
            print(
                f'{most:,} of {total:,} events recorded before '
                f'{command.moment(before)} would be deleted.'
            )
            return int(most > 0)
        run = batches.Batches(
            driver,
            before,
            options.batch_size,
            max_rows,
            options.max_time,
            options.sleep,
        )
        self._delete(run, most, options)
        print(self._summary(run))
        if run.reason == batches.GIVEN_UP:
            return _GIVEN_UP
        return int(run.deleted > 0)

    def _before(self, options):
        cutoff = base.revoked_before_cutoff_time()
        if options.before is None:
            return cutoff
        try:
            before = timeutils.normalize_time(
                timeutils.parse_isotime(options.before)
            )
        except (ValueError, OverflowError):
            raise command.Stop(
                _WRONG_DATE, f'--before: {options.before!r} is not a date'
            ) from None
        if before > timeutils.utcnow():
            raise command.Stop(
                _WRONG_DATE, f'--before: {options.before} is in the future'
            )
        if before > cutoff and not options.force:
            raise command.Stop(
                _WRONG_DATE,
                '--before: deleting events recorded since '
                f'{cutoff:%Y-%m-%dT%H:%M:%S} would make revoked tokens valid '
                'again',
            )
        return before

    def _max_rows(self, options):
        if options.max_rows is not None:
            if options.batch_size > options.max_rows:
                raise command.Stop(
                    self.wrong_arguments,
                    f'--batch-size {options.batch_size} is greater than '
                    f'--max-rows {options.max_rows}',
                )
            return options.max_rows
        return math.inf if options.until_complete else options.batch_size

    def _delete(self, run, most, options):
        def interrupt(number, _frame):
            run.interrupt()
            # A second signal terminates the process immediately.
            signal.signal(number, signal.SIG_DFL)

        usual = {
            number: signal.signal(number, interrupt)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        told = 0
        try:
            for batch in run:
                if options.verbose:
                    print(self._line(batch), flush=True)
                if run.seconds >= told + _PAUSE:
                    told = run.seconds
                    print(self._progress(run, most), flush=True)
        except command.DATABASE_ERRORS as error:
            raise command.Stop(
                self.failed,
                f'database error after {run.deleted:,} deleted events: '
                f'{db_errors.first_line(error)}',
            ) from None
        finally:
            for number, handler in usual.items():
                signal.signal(number, handler)

    def _line(self, batch):
        if batch.given_up:
            return f'Deleted no events: {batch.given_up}'
        if not batch.found:
            return 'Found no events.'
        return (
            f'Deleted {batch.deleted:,} events, recorded up to '
            f'{command.moment(batch.last)}.'
        )

    def _progress(self, run, most):
        # Other processes may delete too, and more events may expire.
        done = min(run.deleted, most)
        words = f'{done:,} of {most:,}'
        if done:
            rate = done / run.seconds
            left = datetime.timedelta(seconds=round((most - done) / rate))
            words += f', {rate:,.0f}/s, {left} left'
        return words

    def _summary(self, run):
        words = (
            f'Deleted {run.deleted:,} events in {run.seconds:.1f} seconds. '
            f'Stopped: {run.reason}.'
        )
        if run.given_up:
            words += f' Batches abandoned because of locks: {run.given_up:,}.'
        return words
