# SPDX-License-Identifier: Apache-2.0

"""The tree and the oracle side by side, over random events and tokens."""

import random

import fixtures

from keystone.revoke import tree
from keystone.tests.unit.revoke import oracle
from keystone.tests.unit.revoke import samples

_TOKENS_PER_SET = 40
_EVENTS_PER_SET = 8


def compare(pairs, seed):
    """Ask both about many pairs of an event set and a token.

    :param pairs: how many pairs
    :param seed: seed of the random numbers: the same pairs each time
    :returns: the number of tokens that were revoked
    :raises AssertionError: at the first pair on which the two differ
    """
    with fixtures.MonkeyPatch('keystone.revoke.tree.SPAN', 1):
        return _compare(pairs, random.Random(seed))


def _compare(pairs, rng):
    tokens = [samples.random_token(rng) for _ in range(4096)]
    revoked = 0
    for _ in range(pairs // _TOKENS_PER_SET):
        quick, slow = tree.RevocationTree(), oracle.Oracle()
        for _ in range(rng.randrange(_EVENTS_PER_SET) + 1):
            event = samples.random_event(rng)
            quick.add(event)
            slow.add(event)
        if rng.random() < 0.3:
            cutoff = samples.seconds(rng.randrange(6))
            quick.expire(cutoff)
            slow.expire(cutoff)
        for _ in range(_TOKENS_PER_SET):
            token = rng.choice(tokens)
            expected = slow.is_revoked(token)
            if quick.is_revoked(token) != expected:
                raise AssertionError(
                    f'revoked should be {expected}: {token}, given '
                    f'{slow.events}'
                )
            revoked += expected
    return revoked
