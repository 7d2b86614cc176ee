# SPDX-License-Identifier: Apache-2.0

"""Load on a server at a rate independent of its responses, by hey."""

import collections
import csv
import io
import subprocess

from bench import load
from patchset import child
from patchset import errors


def get(url, headers, rate, seconds, clients):
    """Ask for a URL at a steady rate for some seconds.

    :param headers: {name: value} of each request
    :param rate: requests per second, of all clients together
    :param clients: number of connections that share them evenly
    :returns: :class:`bench.load.Answers`; the rate is what was answered, less
        than was offered if the server cannot keep up
    :raises patchset.errors.Error: an answer was not a success
    """
    words = ['hey', '-o', 'csv', '-z', f'{seconds}s', '-c', str(clients)]
    words += ['-q', f'{rate / clients:g}', '-t', '300']
    for name, value in headers.items():
        words += ['-H', f'{name}: {value}']
    with child.start(
        [*words, url],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            output = process.stdout.read()
        finally:
            child.stop(process)
    return parse(output, seconds)


def parse(text, seconds):
    """Read the table that hey has printed.

    :param seconds: how long requests were sent
    :raises patchset.errors.Error: it tells of failures, or of no answer
    """
    rows = list(csv.DictReader(io.StringIO(text)))
    try:
        times = collections.Counter(
            round(1_000_000 * float(row['response-time'])) for row in rows
        )
        refused = sum(not row['status-code'].startswith('2') for row in rows)
    except (KeyError, TypeError, ValueError):
        lines = text.strip().splitlines() or ['nothing was printed']
        raise errors.Error(f'hey failed: {lines[-1]}') from None
    if refused:
        raise errors.Error(f'{refused} of {len(rows)} requests were refused')
    if not times:
        raise errors.Error('no request was answered in time')
    return load.Answers(rate=len(rows) / seconds, times=dict(times))
