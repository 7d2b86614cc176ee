# SPDX-License-Identifier: Apache-2.0

"""Types of command line arguments."""

import argparse
import datetime
import math


def _number(kind, least):
    """A function that parses numbers which are not smaller than another."""

    def parse(text):
        try:
            number = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(
                f'{text!r} is not a number'
            ) from None
        if not least <= number < math.inf:
            raise argparse.ArgumentTypeError(
                f'{text}: must be {least} or greater'
            )
        return number

    return parse


#: A number of events.
count = _number(int, 1)
threshold = _number(int, 0)
#: A duration.
seconds = _number(float, 0)


def moment(text):
    """Parse a date and time, in UTC unless it has an offset.

    :param text: ISO 8601, such as 2026-11-02, or 2026-11-02T10:00:00+01:00
    :returns: naive UTC datetime
    :raises ValueError, OverflowError: not a valid date
    """
    # Python 3.10 and earlier do not accept the letter Z.
    parsed = datetime.datetime.fromisoformat(
        text[:-1] + '+00:00' if text.endswith('Z') else text
    )
    if parsed.tzinfo is not None:
        parsed = parsed.astimezone(datetime.timezone.utc)
    return parsed.replace(tzinfo=None)
