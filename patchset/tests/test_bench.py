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

"""Tests of reading what the load tool measured."""

import testtools

from bench import load
from bench import revocations
from patchset import errors

_REPORT = """\
Concurrency Level:      4
Time taken for tests:   1.001 seconds
Complete requests:      301
Failed requests:        0
Requests per second:    300.61 [#/sec] (mean)
Percentage of the requests served within a certain time (ms)
  50%     13
  99%     29
 100%     35 (longest request)
"""


class ParseTestCase(testtools.TestCase):
    def test_measure(self):
        self.assertEqual(
            load.Measure(rate=300.61, p50=13, p99=29, requests=301),
            load.parse(_REPORT),
        )

    def test_failures_are_no_result(self):
        refused = f'{_REPORT}Non-2xx responses:      7\n'
        error = self.assertRaises(errors.Error, load.parse, refused)
        self.assertEqual('7 of 301 requests failed under load', str(error))

    def test_no_report_is_no_result(self):
        self.assertRaises(errors.Error, load.parse, '')

    def test_line_gives_the_ratio(self):
        one = {'rate': 10.0, 'p99': 400}
        two = {'rate': 25.0, 'p99': 160}
        point = {'kind': 'chain', 'events': 1000, 'stock': one, 'patched': two}
        self.assertIn('ratio 2.50', revocations.line(point))
