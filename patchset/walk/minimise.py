# SPDX-License-Identifier: Apache-2.0

"""Finding the shortest list that still shows a failure."""


def shortest(items, fails, expired, groups=()):
    """A part of a list, in its order, that fails too.

    Delta debugging (Zeller and Hildebrandt, 2002): parts are left out, large
    ones first, for as long as the rest fails. Without a bound, no single item
    of the result can be left out.

    :param items: what fails: a list
    :param fails: function of a list that tells whether it fails
    :param expired: function that tells whether the time is over; the best
        list so far is the result then
    :param groups: functions of an item; all items for which one is true are
        left out together, before anything else
    :returns: a list
    """
    for group in groups:
        rest = [one for one in items if not group(one)]
        if len(rest) < len(items) and not expired() and fails(rest):
            items = rest
    size = max(len(items) // 2, 1)
    while not expired():
        items, shorter = _without_parts(items, size, fails, expired)
        if size == 1 and not shorter:
            break
        size = max(size // 2, 1)
    return items


def _without_parts(items, size, fails, expired):
    """Omit each part of ``size`` items, if the rest still fails.

    :returns: the list, and whether it became shorter
    """
    shorter = False
    start = max(len(items) - size, 0)
    while items and not expired():
        rest = items[:start] + items[start + size :]
        if len(rest) < len(items) and fails(rest):
            items, shorter = rest, True
        if start == 0:
            break
        start = max(start - size, 0)
    return items, shorter
