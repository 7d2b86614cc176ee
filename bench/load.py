# SPDX-License-Identifier: Apache-2.0

"""Load on a server, by wrk: at the rate of its responses, or a steady one.

A request is a tuple of strings: the token that asks, the token that is asked
about, and a body, which is posted; each may be empty. A method and a path with
its query may follow, which take the place of GET or POST and of the URL's.
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
import tempfile

from patchset import child
from patchset import errors

_LONGEST = 900  # seconds that a number of requests may take

_SCRIPT = pathlib.Path(__file__).with_name('load.lua')


@dataclasses.dataclass(frozen=True)
class Answers:
    """What was answered, with the time of each.

    :param rate: answers per second
    :param times: {microseconds: number of answers that took as long}
    :param failed: number of requests without an answer, or with an error
    """

    rate: float
    times: dict
    failed: int = 0

    @property
    def requests(self) -> int:
        """The number of answers."""
        return sum(self.times.values())

    def measure(self, percents=(50, 99)) -> dict:
        """``rate``, ``p50`` and ``p99`` (milliseconds), and ``requests``.

        :param percents: which percentiles there are
        """
        return {
            'rate': float(f'{self.rate:.6g}'),
            **{f'p{one}': self.percentile(one) for one in percents},
            'requests': self.requests,
        }

    def percentile(self, percent: int) -> float:
        """A percentile of the response times, in milliseconds."""
        ranked = sorted(collections.Counter(self.times).elements())
        rank = max(math.ceil(len(ranked) * percent / 100), 1)
        return round(ranked[rank - 1] / 1000, 1)


def joined(parts) -> Answers:
    """What was answered one after the other, as one.

    :param parts: list of :class:`Answers`
    """
    times = collections.Counter()
    for one in parts:
        times.update(one.times)
    took = sum(one.requests / one.rate for one in parts)
    return Answers(rate=times.total() / took, times=dict(times))


def validations(subjects, caller=None) -> list:
    """Requests that validate tokens.

    :param caller: token that asks; None has each ask about itself
    """
    return [(caller or one, one, '') for one in subjects]


def during(url, requests, seconds, clients, rate=0) -> Answers:
    """Send requests in turns for some seconds.

    :param clients: number of requests under way at once, at most
    :param rate: requests per second of all clients, whatever the response
        times, as long as one of them is free; 0 has each send the next one
        after the response
    :raises patchset.errors.Error: an answer was not a success
    """
    return _run([(url, requests)], clients, seconds, rate=rate)


def once(urls, requests, clients, strict=True) -> Answers:
    """Send each request once, in order.

    When the last answer comes, the clients that are done have begun with the
    first requests again.

    :param urls: the first request is sent to the first URL, the second to the
        second, and so on in turns; they share the clients
    :param clients: number of requests under way at once
    :param strict: False counts failures; the times include those of errors
    :raises patchset.errors.Error: an answer was not a success
    """
    parts = [
        (url, requests[number :: len(urls)]) for number, url in enumerate(urls)
    ]
    return _run(parts, clients // len(urls), strict=strict)


def exactly(url, requests, clients) -> Answers:
    """Send each request once, and no more.

    :param clients: the first one sends the first request, the second one the
        second, and so on in turns, each after its last one was answered
    :returns: those of all clients; the rate is that until the last answer
    :raises patchset.errors.Error: an answer was not a success
    """
    parts = [(url, requests[number::clients]) for number in range(clients)]
    return _run(parts, 1)


def _run(parts, clients, seconds=None, strict=True, rate=0):
    """Run a wrk for each part at once; None of them is left behind.

    :param parts: list of (URL, requests)
    :param clients: of each part
    :param seconds: None sends each request once
    :param rate: requests per second of each part; see :func:`during`
    """
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix='ks-wrk-'))
        )
        # Ends after the processes, which its threads read from.
        pool = concurrent.futures.ThreadPoolExecutor(len(parts))
        stack.enter_context(pool)
        running = []
        for number, (url, requests) in enumerate(parts):
            path = folder / f'requests-{number}'
            path.write_text(''.join('\t'.join(one) + '\n' for one in requests))
            # One thread: requests are sent in order, whichever connection is
            # free.
            words = [
                'env', '--ignore-signal=INT', 'wrk', '-t', '1', '-c', clients,
                '--timeout', '300s', '-d', f'{seconds or _LONGEST}s',
                '-s', _SCRIPT, url, '--', path,
                0 if seconds else len(requests), rate,
            ]  # fmt: skip
            process = child.start(
                words,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            stack.enter_context(process)
            stack.callback(child.stop, process)
            running.append(process)
        outputs = list(pool.map(_output, running))
    return parse(outputs, clients, strict)


def _output(process):
    """What a wrk prints.

    If all is answered it is told to end: again and again, as it may not have
    begun to wait for the end of its duration, and miss that.
    """
    text = ''
    for line in process.stdout:
        text += line
        ready = line != 'answered\n'
        while not ready:
            process.send_signal(signal.SIGINT)
            ready, _, _ = select.select([process.stdout], [], [], 0.05)
    return text


def parse(outputs, clients, strict=True) -> Answers:
    """Read what several wrk that ran at the same time have printed.

    :param outputs: list of texts
    :param clients: how many requests each had under way at once
    :param strict: whether failures are an error
    :raises patchset.errors.Error: they tell of failures, or of no answer
    """
    times, longest, refused, failed = collections.Counter(), 0, 0, 0
    for text in outputs:
        found = _checked(text, strict)
        refused += found['refused']
        failed += found['failed']
        if found['requests']:
            longest = max(longest, found['microseconds'])
            times.update(_measured(found, clients))
    if not times:
        raise errors.Error('no request was answered in time')
    rate = 1_000_000 * (times.total() - refused) / longest
    return Answers(rate, dict(times), refused + failed)


def _checked(text, strict):
    """What a wrk has printed; with strict, if it has had no failures."""
    lines = text.strip().splitlines() or ['nothing was printed']
    try:
        found = json.loads(lines[-1])
    except ValueError:
        raise errors.Error(f'wrk failed: {lines[-1]}') from None
    if strict and (found['refused'] or found['failed']):
        raise errors.Error(
            f'of {found["requests"]} requests under load {found["refused"]} '
            f'were rejected, and {found["failed"]} aborted'
        )
    return found


def _measured(found, clients):
    """The times that were measured: {microseconds: number of answers}.

    For each slow answer wrk adds those that clients at a steady pace would
    have waited for (its ``stats_correct``). They come out again here; those
    below the least time are not listed.
    """
    times = dict(found['times'])
    pace = found['microseconds'] // max(found['requests'] // clients, 1)
    for time in sorted(times, reverse=True):
        if time < 2 * pace or found['requests'] < clients:
            break
        for added in range(time - pace, pace, -pace):
            if added in times:
                times[added] -= times[time]
    return {time: number for time, number in times.items() if number}
