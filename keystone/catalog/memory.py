# SPDX-License-Identifier: Apache-2.0

"""Estimation of memory sizes."""

import sys


def size_of(value):
    """Estimate the size of a value and everything it contains, in bytes.

    Objects contained twice count twice.

    :param value: of the types that JSON has
    :returns: int
    """
    size = sys.getsizeof(value)
    if isinstance(value, dict):
        size += sum(size_of(key) + size_of(one) for key, one in value.items())
    elif isinstance(value, list):
        size += sum(map(size_of, value))
    return size
