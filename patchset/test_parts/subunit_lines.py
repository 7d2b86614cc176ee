# SPDX-License-Identifier: Apache-2.0

"""Turn a subunit stream into lines of JSON, one for each test that ended.

A script for the test environment's Python, which has the subunit library;
the tooling's own has not::

    stestr run --subunit | python subunit_lines.py

What is no test goes to standard error: words that a worker printed, and
the reason why stestr could not load the tests.
"""

import json
import sys

import subunit
import testtools

_LINES = 20  # of a test's own log, to show with its failure


class _Sort(testtools.StreamResult):
    """Hand on the events of tests, and nothing else."""

    def __init__(self, tests):
        super().__init__()
        self._tests = tests

    def status(self, *args, **event):
        if event.get('runnable') is False:
            return  # a shared resource, made or torn down
        if event.get('test_status') == 'exists':
            return  # named in advance
        if event.get('test_id') is None:
            words = bytes(event.get('file_bytes') or b'')
            sys.stderr.write(words.decode(errors='replace'))
            sys.stderr.flush()
        else:
            self._tests.status(*args, **event)


def _text(test):
    """The traceback or the reason, then the end of what else there is."""
    parts = []
    more = []
    for name, content in test['details'].items():
        lines = _lines(content)
        if name.startswith(('traceback', 'reason')):
            parts += lines
        elif lines and test['status'] != 'skip':
            sys.stderr.write('\n'.join([test['id'], *lines, '']))
            more.append(f'{name}, {len(lines)} lines; the last ones:')
            more += lines[-_LINES:]
    if test['status'] == 'inprogress':
        parts.append('the process that ran the test ended before it did')
    return '\n'.join([*parts, *more])


def _lines(content):
    try:
        return content.as_text().strip().splitlines()
    except ValueError:
        return [f'({content.content_type})']


def _seconds(start, stop):
    return (stop - start).total_seconds() if start and stop else 0


def _print(test):
    line = {
        'id': test['id'],
        'status': test['status'],
        'text': '',
        'seconds': _seconds(*test['timestamps']),
    }
    if test['status'] != 'success':
        line['text'] = _text(test)
    print(json.dumps(line), flush=True)


def main():
    """Read standard input to its end."""
    tests = testtools.StreamToDict(_print)
    tests.startTestRun()
    subunit.ByteStreamToStreamResult(
        sys.stdin.buffer, non_subunit_name='stdout'
    ).run(_Sort(tests))
    tests.stopTestRun()


if __name__ == '__main__':
    main()
