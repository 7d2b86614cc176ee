# SPDX-License-Identifier: Apache-2.0

"""Types of command line arguments."""

import argparse
import datetime
import math


def count(text):
    """Parse a positive number of events.

    :returns: int, at least 1
    """
    number = _number(int, text)
    if number < 1:
        raise argparse.ArgumentTypeError(f'{text}: must be 1 or greater')
    return number


def threshold(text):
    """Parse a non-negative number of events.

    :returns: int, at least 0
    """
    number = _number(int, text)
    if number < 0:
        raise argparse.ArgumentTypeError(f'{text}: must be 0 or greater')
    return number


def seconds(text):
    """Parse a duration.

    :returns: float, seconds, at least 0
    """
    number = _number(float, text)
    if not (number >= 0 and math.isfinite(number)):
        raise argparse.ArgumentTypeError(f'{text}: must be 0 or greater')
    return number


def moment(text):
    """Parse a date and time, in UTC unless it has an offset.

    :param text: ISO 8601, such as 2026-11-02, or 2026-11-02T10:00:00+01:00
    :returns: naive UTC datetime
    :raises ValueError: not a valid date
    """
    # Python 3.10 and earlier do not accept the letter Z.
    parsed = datetime.datetime.fromisoformat(
        text[:-1] + '+00:00' if text.endswith('Z') else text
    )
    if parsed.tzinfo is not None:
        parsed = parsed.astimezone(datetime.timezone.utc)
    return parsed.replace(tzinfo=None)


def _number(kind, text):
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'{text!r} is not a number') from None
