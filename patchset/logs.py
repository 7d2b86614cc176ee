# SPDX-License-Identifier: Apache-2.0

"""What a program's log says about its end."""

import re

# The end of a traceback, or a command's own complaint.
_REASON = re.compile(r'\b[\w.]*(?:Error|Exception|Conflict|NotFound)\b.*')


def size(path):
    """Size of a log in bytes; 0 if there is none."""
    return path.stat().st_size if path.exists() else 0


def reason(path, start=0, telling=_REASON):
    """The line that tells best why the program ended.

    :param start: size of the log before the program began
    :param telling: pattern of what such a line says
    """
    with open(path, 'rb') as log:
        log.seek(start)
        text = log.read().decode(errors='replace')
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in reversed(lines):
        match = telling.search(line)
        if match:
            return match[0]
    return lines[-1] if lines else 'it said nothing'
