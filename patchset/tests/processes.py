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

"""Waiting for what other processes do."""

import pathlib
import time

_DEADLINE = 20  # seconds


def until(condition):
    """Wait until a condition holds; whether it does in time."""
    end = time.monotonic() + _DEADLINE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def ends(pid):
    """Wait for the end of any process; whether it ends in time.

    One that nobody has waited for has ended, too.
    """
    return until(lambda: _ended(pid))


def _ended(pid):
    try:
        stat = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except FileNotFoundError:
        return True
    return stat.rpartition(')')[2].split()[0] == 'Z'
