# SPDX-License-Identifier: Apache-2.0

"""How much memory a value takes."""

import sys


def size_of(value):
    """Estimate the bytes of a value and of all that it holds.

    What is held twice counts twice.

    :param value: of the types that JSON has, or a set of strings
    :returns: int
    """
    size = sys.getsizeof(value)
    if isinstance(value, dict):
        size += sum(size_of(key) + size_of(one) for key, one in value.items())
    elif isinstance(value, (list, set)):
        size += sum(map(size_of, value))
    return size
