# SPDX-License-Identifier: Apache-2.0

"""What upstream's own tests give on the stock tree, to compare with.

One text file per release and part, ``patches/<release>/stock/<part>.txt``:
the number of tests that passed, and the ids of those that did not run.
Every other test of the suite has to pass on the patched tree too. Where
there is no file, what does not pass on the patched tree runs on stock.
"""

import dataclasses

from patchset import errors
from patchset import paths
from patchset import progress
from patchset.test_parts import results


def path(pin, part):
    """Where the baseline of a part stands."""
    return paths.PATCHES / pin.release / 'stock' / f'{part}.txt'


def load(pin, part):
    """What does not pass on stock, as it was recorded.

    :returns: set of ids; ``setUpClass (NAME)`` stands for every test of that
        class. None if nothing is recorded
    """
    file = path(pin, part)
    if not file.is_file():
        return None
    lines = file.read_text().splitlines()
    return {one for one in lines if not one.startswith(('#', 'passed: '))}


def record(pin, part, report):
    """Write a baseline.

    :raises patchset.errors.Error: the stock run has failures, which are
        nothing to compare with
    """
    if report.failed:
        raise errors.Error(
            f'nothing recorded: {len(report.failed)} tests of {part} failed '
            f'on stock'
        )
    file = path(pin, part)
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        f'# Keystone {pin.version} as upstream made it, under '
        f'./ks test {part} --stock --record.\n'
        f'# The number of tests that passed, then what skipped.\n'
        f'passed: {len(report.passed)}\n'
        + ''.join(f'{test}\n' for test in sorted(report.skipped))
    )


def judge(options, part, report, on_stock):
    """Record a run on stock, if that is asked for, or compare one with it.

    :param options: a :class:`patchset.test_parts.Options`
    :param report: :class:`patchset.test_parts.results.Report` of the run, with
        the ids of the stock suite's tests
    :param on_stock: called with options and ids where nothing is recorded;
        runs them on the stock tree and returns a report
    :returns: a :class:`patchset.test_parts.results.Result`, the tests lost
        since stock counted as failed
    """
    if options.record:
        record(options.pin, part, report)
        return report.result
    stock = load(options.pin, part)
    left = report.ids - report.passed
    if stock is None and left:
        progress.say(f'{len(left)} tests that did not pass here run on stock')
        there = on_stock(dataclasses.replace(options, stock=True), left)
        stock = {*there.skipped, *there.failed}
    lost = _lost(report, stock or ())
    for test, reason in sorted(lost.items()):
        progress.say(f'FAILED {test}\n{reason}\n')
    mine = report.result
    skipped = mine.skipped - len(lost.keys() & report.skipped.keys())
    return results.Result(mine.passed, mine.failed + len(lost), skipped)


def _lost(report, skipped):
    """Tests that pass on stock and were not run to their end here.

    :param report: :class:`patchset.test_parts.results.Report`
    :param skipped: what does not pass on stock, as :func:`load` returns it
    :returns: a dict of test id and reason
    """
    reasons = {}
    for test in report.ids - report.passed - report.failed.keys():
        if _entry(test, skipped) is None:
            entry = _entry(test, report.skipped)
            reasons[test] = (
                'passes on stock, but is not among the tests that ran'
                if entry is None
                else f'passes on stock, skips here: {report.skipped[entry]}'
            )
    return reasons


def _entry(test, skipped):
    """Which entry of a collection of skips holds for a test, if any."""
    name = test.partition('[')[0].rpartition('.')[0]
    for entry in (test, f'setUpClass ({name})'):
        if entry in skipped:
            return entry
    return None
