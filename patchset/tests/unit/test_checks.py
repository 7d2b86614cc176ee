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
        result, text = run(
            [
                checks.Check('good', lambda: ''),
                checks.Check('bad', lambda: 'one\ntwo'),
            ]
        )
        self.assertEqual(results.Result(passed=1, failed=1), result)
        self.assertEqual('good: ok\nbad: FAILED\n    one\n    two\n', text)

    def test_an_expression_narrows(self):
        given = [checks.Check(name, str) for name in ('html', 'notes', 'no')]
        result, text = run(given, '^no')
        self.assertEqual(2, result.total)
        self.assertNotIn('html', text)

    def test_the_exit_code_decides(self):
        good = checks.program('good', ['sh', '-c', 'echo chatter'])
        self.assertEqual('', good.find())
        bad = checks.program('bad', ['sh', '-c', 'echo a; echo b >&2; exit 3'])
        self.assertEqual('a\nb', bad.find())

    def test_a_silent_failure_is_one(self):
        self.assertEqual(
            'exit 3', checks.program('x', ['sh', '-c', 'exit 3']).find()
        )

    def test_a_missing_program_is_an_error(self):
        check = checks.program('x', ['no-such-program'])
        self.assertRaisesRegex(
            errors.Error, 'no-such-program is not installed', check.find
        )
