# SPDX-License-Identifier: Apache-2.0

"""Authentication methods that only mark tokens."""

_EC2 = 'ec2credential'


def added(method_map):
    """Add the methods that mark tokens, but that no plugin authenticates.

    :param method_map: {bit: method} of the configured methods
    :returns: the same, with a bit for each other one after those that are
        configured; this is the bit of 2026.2 by default
    """
    if _EC2 not in method_map.values():
        method_map[2 ** len(method_map)] = _EC2
    return method_map
