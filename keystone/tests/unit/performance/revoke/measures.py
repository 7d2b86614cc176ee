# SPDX-License-Identifier: Apache-2.0

"""Measures of the revocation tree that do not depend on the machine."""

import gc
import secrets
import sys
import tracemalloc
import uuid

from keystone.revoke import tree
from keystone.tests.unit.revoke import samples


def _audit_id():
    return secrets.token_urlsafe(16)


def _uuid():
    return uuid.uuid4().hex


_NEW_ID = {'audit_id': _audit_id, 'audit_chain_id': _audit_id}


def event(attributes, second=0):
    """An event with random ids, in the form that Keystone gives them."""
    values = {name: _NEW_ID.get(name, _uuid)() for name in attributes}
    moment = samples.seconds(second)
    return samples.Row(**values, issued_before=moment, revoked_at=moment)


def filled(kinds, count):
    """A tree of count events, one a second, of each kind in turn."""
    result = tree.RevocationTree()
    for number in range(count):
        result.add(event(kinds[number % len(kinds)], number))
    return result


def token():
    """A project-scoped token that was rescoped from an unscoped one."""
    return samples.token(
        audit_id=_audit_id(),
        audit_chain_id=_audit_id(),
        user_id=_uuid(),
        identity_domain_id=_uuid(),
        project_id=_uuid(),
        assignment_domain_id=_uuid(),
        roles=[_uuid(), _uuid()],
    )


class CountedId(str):
    """An id that counts look-ups, and comparisons with ids of events."""

    lookups = 0
    comparisons = 0

    def __hash__(self):
        CountedId.lookups += 1
        return super().__hash__()

    def __eq__(self, other):
        CountedId.comparisons += 1
        return super().__eq__(other)


def comparisons(events, values):
    """Count what one check looks up and compares.

    :returns: (look-ups, comparisons)
    """
    counted = {
        name: CountedId(value) if isinstance(value, str) else value
        for name, value in values.items()
    }
    CountedId.lookups = CountedId.comparisons = 0
    events.is_revoked(counted)
    return CountedId.lookups, CountedId.comparisons


def calls(function, *args):
    """Count the calls of Python and C functions that one call makes."""
    count = 0

    def profile(_frame, kind, _argument):
        nonlocal count
        count += kind in ('call', 'c_call')

    # A collection would run other code's finalizers.
    gc.disable()
    sys.setprofile(profile)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


def bytes_per_event(attributes, count, span, step=None):
    """Measure the memory that a tree takes while it is filled.

    :param count: how many different events to add
    :param span: over how many seconds they spread
    :param step: after how many events to measure; at the end, if None
    :returns: list of (number of events, bytes for each of them)
    """
    sizes = []
    gc.collect()
    tracemalloc.start()
    try:
        before, _peak = tracemalloc.get_traced_memory()
        result = tree.RevocationTree()
        for number in range(1, count + 1):
            result.add(event(attributes, number * span // count))
            if number % (step or count) == 0:
                # It also empties the interpreter's free lists.
                gc.collect()
                now, _peak = tracemalloc.get_traced_memory()
                sizes.append((number, (now - before) / len(result)))
    finally:
        tracemalloc.stop()
    return sizes
