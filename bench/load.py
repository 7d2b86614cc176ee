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

"""Load on a server, made by ApacheBench."""

import dataclasses
import re

from patchset import errors
from patchset import process


@dataclasses.dataclass(frozen=True)
class Measure:
    """What a few seconds of load showed.

    :param rate: answered requests per second
    :param p50: median time of an answer, in milliseconds
    :param p99: 99th percentile of that time, in milliseconds
    :param requests: number of requests answered
    """

    rate: float
    p50: int
    p99: int
    requests: int


def get(url, headers, seconds, clients):
    """Ask for a URL again and again for some seconds.

    :param headers: {name: value} of each request
    :param clients: number of requests under way at once
    :raises patchset.errors.Error: an answer was not a success
    """
    command = ['ab', '-q', '-s', '120', '-c', str(clients)]
    # -t alone would end after 50,000 requests.
    command += ['-t', str(seconds), '-n', '10000000']
    for name, value in headers.items():
        command += ['-H', f'{name}: {value}']
    return parse(process.run([*command, url], what='ab'))


def parse(text):
    """Read ApacheBench's report.

    :raises patchset.errors.Error: it tells of failures, or is none
    """

    def number(pattern):
        found = re.search(pattern, text, re.MULTILINE)
        return float(found[1]) if found else 0

    wrong = number(r'^Non-2xx responses: +(\d+)') + number(
        r'^Failed requests: +(\d+)'
    )
    requests = int(number(r'^Complete requests: +(\d+)'))
    if wrong or not requests:
        raise errors.Error(
            f'{wrong:.0f} of {requests} requests failed under load'
        )
    return Measure(
        rate=number(r'^Requests per second: +([\d.]+)'),
        p50=int(number(r'^ +50% +(\d+)')),
        p99=int(number(r'^ +99% +(\d+)')),
        requests=requests,
    )
