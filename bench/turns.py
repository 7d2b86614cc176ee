# SPDX-License-Identifier: Apache-2.0

"""Load on a server by wrk, with a list of requests used in turns.

ApacheBench sends the same headers with each request.
"""

import collections
import contextlib
import dataclasses
import json
import pathlib
import subprocess
import tempfile

from bench import load
from bench import steal
from patchset import child
from patchset import errors

_LONGEST = 900  # seconds that a number of requests may take

# One thread: requests are sent in order, whichever connection is free.
_SCRIPT = """
local requests, at = {}, 0

function init(args)
   for line in io.lines(args[1]) do
      local caller, subject, body, method, path = line:match(
         "^(%S*)\\t(%S*)\\t([^\\t]*)\\t?(%S*)\\t?(%S*)$")
      local headers = {["Content-Type"] = "application/json"}
      if caller ~= "" then headers["X-Auth-Token"] = caller end
      if subject ~= "" then headers["X-Subject-Token"] = subject end
      if method == "" then method = body == "" and "GET" or "POST" end
      if body == "" then body = nil end
      if path == "" then path = nil end
      -- Made in advance: the processors are the servers'.
      table.insert(requests, wrk.format(method, path, headers, body))
   end
   local left = tonumber(args[2])
   if left > 0 then
      local ffi = require("ffi")
      ffi.cdef("int getpid(void); int kill(int pid, int number);")
      function response()
         left = left - 1
         if left == 0 then
            wrk.thread:stop()
            ffi.C.kill(ffi.C.getpid(), 2) -- ends the wait for the duration
         end
      end
   end
end

function request()
   at = at % #requests + 1
   return requests[at]
end

function done(summary, latency)
   local failed, times = summary.errors, {}
   for number = 1, #latency do
      times[number] = string.format("[%d, %d]", latency(number))
   end
   io.write(string.format(
      '\\n{"requests": %d, "microseconds": %d, "refused": %d, ' ..
      '"failed": %d, "times": [%s]}\\n',
      summary.requests, summary.duration, failed.status,
      failed.connect + failed.read + failed.write + failed.timeout,
      table.concat(times, ", ")))
end
"""


@dataclasses.dataclass(frozen=True)
class Answers:
    """What was answered, with the time of each.

    :param rate: answers per second in which the machine ran
    :param times: {microseconds: number of answers that took as long}
    :param steal: see :class:`bench.load.Measure`
    """

    rate: float
    times: dict
    steal: float = 0

    @property
    def requests(self) -> int:
        """The number of answers."""
        return sum(self.times.values())

    def measure(self) -> load.Measure:
        """Rate and percentiles."""
        return load.Measure(
            rate=float(f'{self.rate:.6g}'),
            p50=self.percentile(50),
            p99=self.percentile(99),
            requests=self.requests,
            steal=self.steal,
        )

    def percentile(self, percent: int) -> float:
        """A percentile of the response times, in milliseconds."""
        rank = self.requests * percent / 100
        reached = 0
        for time in sorted(self.times):
            reached += self.times[time]
            if reached >= rank:
                break
        return round(time / 1000, 1)


def joined(parts) -> Answers:
    """What was answered one after the other, as one.

    :param parts: list of :class:`Answers`
    """
    took = [one.requests / one.rate for one in parts]
    times = collections.Counter()
    for one in parts:
        times.update(one.times)
    lost = sum(
        one.steal * seconds for one, seconds in zip(parts, took, strict=True)
    )
    return Answers(
        rate=times.total() / sum(took),
        times=dict(times),
        steal=round(lost / sum(took), 3),
    )


def validate(url, caller, subjects, seconds, clients):
    """Validate tokens in turns for some seconds.

    :param caller: token that asks
    :param subjects: tokens that are asked about, one after the other
    :param clients: number of requests under way at once
    :returns: a :class:`bench.load.Measure`
    :raises patchset.errors.Error: an answer was not a success
    """
    requests = [(caller, subject, '') for subject in subjects]
    return during(url, requests, seconds, clients).measure()


def get(url, seconds, clients):
    """Ask for a URL that needs no token for some seconds.

    The result and the errors are those of :func:`validate`.
    """
    return _run([url], [('', '', '')], clients, seconds).measure()


def during(url, requests, seconds, clients) -> Answers:
    """Send requests in turns for some seconds.

    Requests, clients and errors are those of :func:`once`.
    """
    return _run([url], requests, clients, seconds)


def once(urls, requests, clients) -> Answers:
    """Send each request once, in order.

    When the last answer comes, the clients that are done have begun with the
    first requests again.

    :param urls: the first request is sent to the first URL, the second to the
        second, and so on in turns; they share the clients
    :param requests: list of (token that asks, token that is asked about, body
        that is posted); each may be empty. A method and a path with its
        query may follow, which take the place of GET or POST and of the URL's
    :param clients: number of requests under way at once
    :raises patchset.errors.Error: an answer was not a success
    """
    return _run(urls, requests, clients)


@steal.excluded(again=load.NothingAnswered)
def _run(urls, requests, clients, seconds=None):
    with tempfile.TemporaryDirectory(prefix='ks-wrk-') as name:
        folder = pathlib.Path(name)
        (folder / 'turns.lua').write_text(_SCRIPT)
        with contextlib.ExitStack() as stack:
            running = []
            for number, url in enumerate(urls):
                own = requests[number :: len(urls)]
                words = _words(folder, number, own, seconds)
                command = ['wrk', '-t', '1', '-c', clients // len(urls)]
                process = child.start(
                    [*command, *words[:-2], url, '--', *words[-2:]],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
                stack.enter_context(process)
                stack.callback(child.stop, process)
                running.append(process)
            outputs = [process.stdout.read() for process in running]
    return parse(outputs, clients // len(urls))


def _words(folder, number, requests, seconds):
    """Options of a wrk; the last two words are for its script."""
    path = folder / f'requests-{number}'
    lines = ('\t'.join(one) for one in requests)
    path.write_text('\n'.join(lines) + '\n')
    return [
        '-d', f'{seconds or _LONGEST}s', '--timeout', '300s',
        '-s', folder / 'turns.lua', path, 0 if seconds else len(requests),
    ]  # fmt: skip


def parse(outputs, clients) -> Answers:
    """Read what several wrk that ran at the same time have printed.

    :param outputs: list of texts
    :param clients: how many requests each had under way at once
    :raises patchset.errors.Error: they tell of failures, or of no answer
    """
    times, longest = collections.Counter(), 0
    for text in outputs:
        found = _checked(text)
        if found['requests']:
            longest = max(longest, found['microseconds'])
            times.update(_measured(found, clients))
    if not times:
        raise load.NothingAnswered
    return Answers(rate=1_000_000 * times.total() / longest, times=dict(times))


def _checked(text):
    """What a wrk has printed, if it has had no failures."""
    lines = text.strip().splitlines() or ['nothing was printed']
    try:
        found = json.loads(lines[-1])
    except ValueError:
        raise errors.Error(f'wrk failed: {lines[-1]}') from None
    if found['refused'] or found['failed']:
        raise errors.Error(
            f'of {found["requests"]} requests under load {found["refused"]} '
            f'were rejected, and {found["failed"]} aborted'
        )
    return found


def _measured(found, clients):
    """The times that were measured: {microseconds: number of answers}.

    For each slow answer wrk adds those that clients at a steady pace would
    have waited for (its ``stats_correct``). They come out again here.
    """
    times = dict(found['times'])
    pace = found['microseconds'] // max(found['requests'] // clients, 1)
    for time in sorted(times, reverse=True):
        if time < 2 * pace or found['requests'] < clients:
            break
        for added in range(time - pace, pace, -pace):
            times[added] -= times[time]
    return {time: number for time, number in times.items() if number}
