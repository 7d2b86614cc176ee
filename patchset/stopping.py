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

"""Ends a command in order when a signal asks for it."""

import signal
import sys


def in_order():
    """On a signal, unwind once: servers and temporary files go first."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop(number, _):
        for one in signals:
            signal.signal(one, signal.SIG_IGN)
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)

    for one in signals:
        if signal.getsignal(one) != signal.SIG_IGN:
            signal.signal(one, stop)
