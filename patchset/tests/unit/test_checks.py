# SPDX-License-Identifier: Apache-2.0

import contextlib
import io

import testtools

from patchset import errors
from patchset.test_parts import checks
from patchset.test_parts import results


def run(*arguments):
    """Run checks; return the result and what was printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        return checks.run(*arguments), printed.getvalue()


class ChecksTestCase(testtools.TestCase):
    def test_each_check_counts(self):
        result, text = run({'good': lambda: '', 'bad': lambda: 'one\ntwo'})
        self.assertEqual(results.Result(passed=1, failed=1), result)
        self.assertEqual('good: ok\nbad: FAILED\n    one\n    two\n', text)

    def test_an_expression_narrows(self):
        given = dict.fromkeys(('html', 'notes', 'no'), str)
        result, text = run(given, '^no')
        self.assertEqual(2, result.total)
        self.assertNotIn('html', text)

    def test_the_exit_code_decides(self):
        good = checks.program(['sh', '-c', 'echo chatter'])
        self.assertEqual('', good())
        bad = checks.program(['sh', '-c', 'echo a; echo b >&2; exit 3'])
        self.assertEqual('a\nb', bad())

    def test_a_silent_failure_is_one(self):
        self.assertEqual('exit 3', checks.program(['sh', '-c', 'exit 3'])())

    def test_a_missing_program_is_an_error(self):
        check = checks.program(['no-such-program'])
        self.assertRaisesRegex(
            errors.Error, 'no-such-program is not installed', check
        )
