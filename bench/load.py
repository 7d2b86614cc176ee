# SPDX-License-Identifier: Apache-2.0

"""Load on a server, made by ApacheBench."""

import contextlib
import dataclasses
import math
import pathlib
import re
import subprocess
import tempfile

from bench import steal
from patchset import child
from patchset import errors

_MOST = 20_000  # requests per second; more than any client here gets


@dataclasses.dataclass(frozen=True)
class Measure:
    """What some load showed.

    :param rate: answered requests per second in which the machine ran
    :param p50: median time of an answer, in milliseconds
    :param p99: 99th percentile of that time, in milliseconds
    :param requests: number of requests answered
    :param steal: the share of the time that was stolen, see
        :mod:`bench.steal`; it is in the times, and not in the rate
    """

    rate: float
    p50: int
    p99: int
    requests: int
    steal: float = 0


class NothingAnswered(errors.Error):
    """No request was answered in time."""

    def __init__(self):
        super().__init__('no request was answered in time')


_excluding_steal = steal.excluded(again=NothingAnswered)


@_excluding_steal
def get(url, headers, seconds, clients):
    """Ask for a URL again and again for some seconds.

    :param headers: {name: value} of each request
    :param clients: number of requests under way at once
    :raises patchset.errors.Error: an answer was not a success
    """
    # -t alone would end after 50,000 requests.
    limit = ['-t', str(seconds), '-n', str(seconds * _MOST)]
    return parse(_run([_command(url, headers, clients, limit)])[0])


@_excluding_steal
def number(url, headers, requests, clients, body=None):
    """Send a number of requests with several clients.

    :param headers: {name: value} of each request
    :param requests: how many there are together
    :param clients: number of requests under way at once
    :param body: the JSON that is sent, as bytes; None asks for the URL
    :raises patchset.errors.Error: an answer was not a success
    """
    with tempfile.TemporaryDirectory(prefix='ks-ab-') as folder:
        limit = ['-n', str(requests)]
        if body is not None:
            limit += _sending(pathlib.Path(folder) / 'body', body)
        return parse(_run([_command(url, headers, clients, limit)])[0])


@_excluding_steal
def each(url, headers, requests):
    """Ask for a URL a few times by each of several clients at once.

    A single ApacheBench is not suitable: it sends its first request alone, and
    finally opens connections that it does not use.

    :param headers: for each client, the {name: value} of its requests
    :param requests: number of requests of each, one after the other
    :returns: one :class:`Measure` of them all; its rate is that until the
        last answer
    :raises patchset.errors.Error: an answer was not a success
    """
    measure, reports = _at_once(url, headers, ['-n', str(requests)])
    pattern = r'^Time taken for tests: +([\d.]+)'
    longest = max(_number(pattern, text) for text in reports)
    return dataclasses.replace(measure, rate=measure.requests / longest)


@_excluding_steal
def together(url, headers, seconds):
    """Ask for a URL for some seconds, by several clients at once.

    Each client is an ApacheBench of its own, which sends one request after
    the other with headers of its own.

    :param headers: for each client, the {name: value} of its requests
    :returns: one :class:`Measure` of them all
    :raises patchset.errors.Error: an answer was not a success
    """
    limit = ['-t', str(seconds), '-n', str(seconds * _MOST)]
    return _at_once(url, headers, limit)[0]


@_excluding_steal
def post(url, headers, bodies, seconds):
    """Send a body to a URL for some seconds, by several clients at once.

    :param headers: {name: value} of each request
    :param bodies: for each client, the JSON that it sends, as bytes
    :returns: one :class:`Measure` of them all
    :raises patchset.errors.Error: an answer was not a success
    """
    limit = ['-t', str(seconds), '-n', str(seconds * _MOST)]
    return _at_once(url, [headers] * len(bodies), limit, bodies)[0]


def _at_once(url, headers, limit, bodies=None):
    """Run a client for each of the headers; their sum and their reports."""
    with tempfile.TemporaryDirectory(prefix='ks-ab-') as folder:
        paths = [
            pathlib.Path(folder) / str(number)
            for number in range(len(headers))
        ]
        options = [[*limit, '-g', str(path)] for path in paths]
        for words, body in zip(options, bodies or (), strict=False):
            words += _sending(pathlib.Path(f'{words[-1]}.json'), body)
        reports = _run(
            [
                _command(url, one, 1, words)
                for one, words in zip(headers, options, strict=True)
            ]
        )
        times = []
        for path in paths:
            if path.exists():
                times += _times(path.read_text())
    return join(reports, times), reports


def _sending(path, body):
    """Words that have a body sent, which is written to a file."""
    path.write_bytes(body)
    return ['-p', str(path), '-T', 'application/json']


def join(reports, times):
    """Sum up clients that ran at the same time.

    :param reports: the reports of their ApacheBench
    :param times: how long each of their answers took, in milliseconds
    :raises patchset.errors.Error: they tell of failures, or of nothing
    """
    requests = sum(_answered(text) for text in reports)
    for text in reports:
        _check(text)
    if not requests:
        raise NothingAnswered
    return Measure(
        rate=round(sum(_rate(text) for text in reports), 2),
        p50=percentile(times, 50),
        p99=percentile(times, 99),
        requests=requests,
    )


def percentile(values, percent):
    """The percentile of a list of values."""
    ranked = sorted(values)
    return ranked[max(math.ceil(len(ranked) * percent / 100), 1) - 1]


def parse(text):
    """Read ApacheBench's report.

    :raises patchset.errors.Error: it tells of failures, or is none
    """
    _check(text)
    requests = _answered(text)
    if not requests:
        raise NothingAnswered
    return Measure(
        rate=_rate(text),
        p50=int(_number(r'^ +50% +(\d+)', text)),
        p99=int(_number(r'^ +99% +(\d+)', text)),
        requests=requests,
    )


def _command(url, headers, clients, limit):
    words = ['ab', '-q', '-s', '300', '-c', str(clients), *limit]
    for name, value in headers.items():
        words += ['-H', f'{name}: {value}']
    return [*words, url]


def _run(commands):
    """Run them all at once; their reports. None of them is left behind."""
    with contextlib.ExitStack() as stack:
        running = []
        for command in commands:
            # A file, unlike a pipe, does not block.
            output = stack.enter_context(tempfile.TemporaryFile('w+'))
            running.append(
                child.start(command, stdout=output, stderr=subprocess.STDOUT)
            )
            stack.callback(child.stop, running[-1])
            running[-1].output = output
        reports = []
        for process in running:
            code = process.wait()
            process.output.seek(0)
            reports.append(process.output.read())
            if code:
                lines = reports[-1].strip().splitlines() or [f'exit {code}']
                raise errors.Error(f'ab failed: {lines[-1]}')
    return reports


def _times(text):
    """The time of each answer, from the file that -g makes."""
    rows = (line.split('\t') for line in text.splitlines()[1:])
    return [int(row[4]) for row in rows]


def _number(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    return float(found[1]) if found else 0


def _check(text):
    """Raise an error if a report tells of failures."""
    refused = int(_number(r'^Non-2xx responses: +(\d+)', text))
    # Sent, and broken off or answered with a body of another length.
    failed = int(_number(r'^Failed requests: +(\d+)', text))
    if refused or failed:
        raise errors.Error(
            f'of {_answered(text)} requests under load {refused} were '
            f'rejected, and {failed} aborted or answered differently'
        )


def _answered(text):
    return int(_number(r'^Complete requests: +(\d+)', text))


def _rate(text):
    return _number(r'^Requests per second: +([\d.]+)', text)
