# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.
"""Load on a server whose requests take turns with many tokens, by wrk.

ApacheBench sends the same headers with each request.
"""

import json
import pathlib
import subprocess
import tempfile

from bench import load
from bench import steal
from patchset import child
from patchset import errors

# One thread: the tokens are asked for in order, whichever connection is free.
_SCRIPT = """
local requests, at = {}, 0

local function add(headers)
   -- Made in advance: the processors are the servers'.
   table.insert(requests, wrk.format("GET", nil, headers))
end

function init(args)
   local caller
   if not args[1] then
      add({})
      return
   end
   for line in io.lines(args[1]) do
      caller = caller or line
      add({["X-Auth-Token"] = caller, ["X-Subject-Token"] = line})
   end
end

function request()
   at = at % #requests + 1
   return requests[at]
end

function done(summary, latency)
   local failed = summary.errors
   io.write(string.format(
      '\\n{"requests": %d, "seconds": %.3f, "p50": %.3f, "p99": %.3f, ' ..
      '"refused": %d, "failed": %d}\\n',
      summary.requests, summary.duration / 1e6,
      latency:percentile(50) / 1000, latency:percentile(99) / 1000,
      failed.status,
      failed.connect + failed.read + failed.write + failed.timeout))
end
"""


def validate(url, caller, subjects, seconds, clients):
    """Validate tokens in turns for some seconds.

    :param caller: token that asks
    :param subjects: tokens that are asked about, one after the other
    :param clients: number of requests under way at once
    :returns: a :class:`bench.load.Measure`
    :raises patchset.errors.Error: an answer was not a success
    """
    with tempfile.TemporaryDirectory(prefix='ks-wrk-') as folder:
        tokens = pathlib.Path(folder) / 'tokens'
        tokens.write_text('\n'.join((caller, *subjects)) + '\n')
        return _run(folder, url, seconds, clients, str(tokens))


def get(url, seconds, clients):
    """Ask for a URL that needs no token for some seconds.

    The result and the errors are those of :func:`validate`.
    """
    with tempfile.TemporaryDirectory(prefix='ks-wrk-') as folder:
        return _run(folder, url, seconds, clients)


@steal.excluded(again=load.NothingAnswered)
def _run(folder, url, seconds, clients, *words):
    script = pathlib.Path(folder) / 'turns.lua'
    script.write_text(_SCRIPT)
    with child.start(
        [
            'wrk', '-t', '1', '-c', str(clients), '-d', f'{seconds}s',
            '--timeout', '300s', '-s', str(script), url, '--', *words,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:  # fmt: skip
        try:
            output = process.stdout.read()
        finally:
            child.stop(process)
    return parse(output)


def parse(text):
    """Read what wrk has printed.

    :raises patchset.errors.Error: it tells of failures, or of no answer
    """
    lines = text.strip().splitlines() or ['nothing was printed']
    try:
        found = json.loads(lines[-1])
    except ValueError:
        raise errors.Error(f'wrk failed: {lines[-1]}') from None
    if found['refused'] or found['failed']:
        raise errors.Error(
            f'of {found["requests"]} requests under load {found["refused"]} '
            f'were refused, and {found["failed"]} broken off'
        )
    if not found['requests']:
        raise load.NothingAnswered
    return load.Measure(
        rate=round(found['requests'] / found['seconds'], 2),
        p50=round(found['p50']),
        p99=round(found['p99']),
        requests=found['requests'],
    )
