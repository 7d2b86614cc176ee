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

"""What a program's log says about its end."""

import re

# The end of a traceback, or a command's own complaint.
_REASON = re.compile(r'\b([\w.]*(?:Error|Exception|Conflict|NotFound)\b.*)')


def size(path):
    """Size of a log in bytes; 0 if there is none."""
    return path.stat().st_size if path.exists() else 0


def reason(path, start=0):
    """The line that tells best why the program ended.

    :param start: size of the log before the program began
    """
    with open(path, 'rb') as log:
        log.seek(start)
        text = log.read().decode(errors='replace')
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in reversed(lines):
        match = _REASON.search(line)
        if match:
            return match[1]
    return lines[-1] if lines else 'it said nothing'
