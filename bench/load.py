# SPDX-License-Identifier: Apache-2.0

"""Load on a server by wrk, at its maximum rate or at a constant one.

A request is a tuple of strings: the token of the caller, the subject token,
and a body, which is sent by POST; each may be empty. A method and a path with
a query may follow; they replace GET or POST and the path of the URL.
"""

import collections
import concurrent.futures
import contextlib
import dataclasses
import json
import math
import pathlib
import select
import signal
import subprocess

from patchset import child
from patchset import errors
from patchset import paths

_MAX_DURATION = 900  # seconds, of a given number of requests

_SCRIPT = pathlib.Path(__file__).with_name('load.lua')


@dataclasses.dataclass(frozen=True)
class Answers:
    """The successful responses, with their response times.

    :param rate: responses per second
    :param times: {response time in microseconds: number of responses}
    :param failed: number of requests without a response, or with an error
    """

    rate: float
    times: dict
    failed: int = 0

    @property
    def requests(self) -> int:
        """The number of responses."""
        return sum(self.times.values())

    def measure(self, percents=(50, 99)) -> dict:
        """``rate``, ``p50`` and ``p99`` (milliseconds), and ``requests``.

        :param percents: the percentiles
        """
        return {
            'rate': float(f'{self.rate:.6g}'),
            **{
                f'p{percent}': self.percentile(percent) for percent in percents
            },
            'requests': self.requests,
        }

    def percentile(self, percent: int) -> float:
        """A percentile of the response times, in milliseconds."""
        ranked = sorted(collections.Counter(self.times).elements())
        rank = max(math.ceil(len(ranked) * percent / 100), 1)
        return round(ranked[rank - 1] / 1000, 1)


def joined(parts) -> Answers:
    """The responses of consecutive measurements.

    :param parts: list of :class:`Answers`
    """
    times = collections.Counter()
    for answers in parts:
        times.update(answers.times)
    duration = sum(answers.requests / answers.rate for answers in parts)
    return Answers(rate=times.total() / duration, times=dict(times))


def validations(subjects, *callers) -> list:
    """Requests that validate tokens.

    :param callers: tokens of callers, each of which validates all tokens;
        without any, each token is validated by itself
    """
    if not callers:
        return [(subject, subject, '') for subject in subjects]
    return [
        (caller, subject, '') for caller in callers for subject in subjects
    ]


def during(url, requests, seconds, clients, rate=0) -> Answers:
    """Send requests in turn for some seconds.

    :param clients: maximum number of concurrent requests
    :param rate: requests per second of all clients, regardless of the
        response times, while one of them is free; with 0, each sends the next
        request after the response
    :raises patchset.errors.Error: a request failed
    """
    return _run([(url, requests)], clients, seconds, rate=rate)


def once(urls, requests, clients, strict=True) -> Answers:
    """Send each request once, in order.

    Clients that are done start again with the first requests, until the last
    response of the others.

    :param urls: the requests are distributed to the URLs by round robin, as
        are the clients
    :param clients: number of concurrent requests
    :param strict: False counts failures; the times include those of errors
    :raises patchset.errors.Error: a request failed
    """
    parts = [
        (url, requests[number :: len(urls)]) for number, url in enumerate(urls)
    ]
    return _run(parts, clients // len(urls), strict=strict)


def exactly(url, requests, clients) -> Answers:
    """Send each request exactly once.

    :param clients: number of clients, to which the requests are distributed
        by round robin; each sends the next one after the response
    :returns: the responses of all clients; the rate is until the last one
    :raises patchset.errors.Error: a request failed
    """
    return once([url] * clients, requests, clients)


def _run(parts, clients, seconds=None, strict=True, rate=0):
    """Run a wrk for each part, all at the same time.

    :param parts: list of (URL, requests)
    :param clients: number of clients of each part
    :param seconds: None sends each request once
    :param rate: requests per second of each part; see :func:`during`
    """
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(paths.temporary('ks-wrk-'))
        # Ends after the processes, whose output its threads read.
        pool = concurrent.futures.ThreadPoolExecutor(len(parts))
        stack.enter_context(pool)
        running = []
        for number, (url, requests) in enumerate(parts):
            path = folder / f'requests-{number}'
            path.write_text(
                ''.join('\t'.join(request) + '\n' for request in requests)
            )
            # One thread, so that requests are sent in order.
            words = [
                'env', '--ignore-signal=INT', 'wrk', '-t', '1', '-c', clients,
                '--timeout', '300s', '-d', f'{seconds or _MAX_DURATION}s',
                '-s', _SCRIPT, url, '--', path,
                0 if seconds else len(requests), rate,
            ]  # fmt: skip
            process = child.start(
                words,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            running.append(stack.enter_context(process))
        outputs = list(pool.map(_output, running))
    return parse(outputs, clients, strict)


def _output(process):
    """Output of a wrk.

    After the last response, it is interrupted repeatedly: it misses the signal
    if it is not yet waiting for the end of its duration.
    """
    text = ''
    for line in process.stdout:
        text += line
        ready = line != 'completed\n'
        while not ready:
            process.send_signal(signal.SIGINT)
            ready, _, _ = select.select([process.stdout], [], [], 0.05)
    return text


def parse(outputs, clients, strict=True) -> Answers:
    """Parse the output of several wrk that ran at the same time.

    :param outputs: list of texts
    :param clients: number of concurrent requests of each
    :param strict: whether failures are an error
    :raises patchset.errors.Error: requests failed, or there is no response
    """
    times, duration, refused, failed = collections.Counter(), 0, 0, 0
    for text in outputs:
        result = _checked(text, strict)
        refused += result['refused']
        failed += result['failed']
        if result['requests']:
            duration = max(duration, result['microseconds'])
            times.update(_measured(result, clients))
    if not times:
        raise errors.Error('there was no response in time')
    rate = 1_000_000 * (times.total() - refused) / duration
    return Answers(rate, dict(times), refused + failed)


def _checked(text, strict):
    """The result of a wrk; with strict, it must not contain failures."""
    lines = text.strip().splitlines() or ['no output']
    try:
        result = json.loads(lines[-1])
    except ValueError:
        raise errors.Error(f'wrk failed: {lines[-1]}') from None
    if strict and (result['refused'] or result['failed']):
        raise errors.Error(
            f'of {result["requests"]} requests under load '
            f'{result["refused"]} were rejected, and {result["failed"]} '
            f'aborted'
        )
    return result


def _measured(result, clients):
    """The measured response times: {microseconds: number of responses}.

    For each slow response, wrk adds those that clients with a constant rate
    would have waited for (its ``stats_correct``). They are removed here.
    """
    times = dict(result['times'])
    interval = result['microseconds'] // max(result['requests'] // clients, 1)
    for time in sorted(times, reverse=True):
        if time < 2 * interval or result['requests'] < clients:
            break
        for added in range(time - interval, interval, -interval):
            # wrk does not list those below the minimum.
            if added in times:
                times[added] -= times[time]
    return {time: number for time, number in times.items() if number}
