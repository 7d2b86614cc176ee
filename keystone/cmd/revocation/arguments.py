# SPDX-License-Identifier: Apache-2.0

"""Values that are given on the command line."""

import argparse
import datetime
import math


def count(text):
    """Read a number of events.

    :returns: int, at least 1
    """
    number = _number(int, text)
    if number < 1:
        raise argparse.ArgumentTypeError(f'{text} is less than 1')
    return number


def threshold(text):
    """Read a number of events that may be none.

    :returns: int, at least 0
    """
    number = _number(int, text)
    if number < 0:
        raise argparse.ArgumentTypeError(f'{text} is less than 0')
    return number


def seconds(text):
    """Read a length of time.

    :returns: float, seconds, at least 0
    """
    number = _number(float, text)
    if not (number >= 0 and math.isfinite(number)):
        raise argparse.ArgumentTypeError(f'{text} is no length of time')
    return number


def moment(text):
    """Read a point in time, in UTC unless it names an offset.

    :param text: ISO 8601, such as 2026-11-02, or 2026-11-02T10:00:00+01:00
    :returns: naive UTC datetime
    :raises ValueError: it is no point in time
    """
    # Python 3.10 and earlier do not know the letter.
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
