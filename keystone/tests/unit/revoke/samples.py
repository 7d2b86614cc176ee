# SPDX-License-Identifier: Apache-2.0

"""Events and tokens for the tests of the revocation tree.

All ids are drawn from one small set, so that events meet tokens often, and so
that the same id turns up as the value of different attributes.
"""

import dataclasses
import datetime

from hypothesis import strategies

from keystone.revoke import tree

NOON = datetime.datetime(2026, 11, 20, 12)

IDS = ('a', 'b', 'c')

# Names of the columns of an event that hold ids.
EVENT_IDS = (
    'user_id',
    'project_id',
    'domain_id',
    'role_id',
    'trust_id',
    'consumer_id',
    'access_token_id',
    'audit_id',
    'audit_chain_id',
)

# Names of the values of a token that hold ids.
TOKEN_IDS = (
    'user_id',
    'trustor_id',
    'trustee_id',
    'project_id',
    'identity_domain_id',
    'assignment_domain_id',
    'trust_id',
    'consumer_id',
    'access_token_id',
    'audit_id',
    'audit_chain_id',
)


@dataclasses.dataclass
class Row:
    """An event as the table holds it: no column for the domain scope."""

    user_id: str | None = None
    project_id: str | None = None
    domain_id: str | None = None
    role_id: str | None = None
    trust_id: str | None = None
    consumer_id: str | None = None
    access_token_id: str | None = None
    audit_id: str | None = None
    audit_chain_id: str | None = None
    expires_at: datetime.datetime | None = None
    issued_before: datetime.datetime = NOON
    revoked_at: datetime.datetime = NOON


def seconds(count):
    """The moment that many seconds past noon."""
    return NOON + datetime.timedelta(seconds=count)


def token(**values):
    """The values of a token that was issued at noon."""
    blank = dict.fromkeys(TOKEN_IDS)
    times = {'issued_at': NOON, 'expires_at': seconds(3600)}
    return {**blank, **times, 'roles': [], **values}


def random_time(rng, span):
    """A moment within span seconds past noon, mostly a whole second."""
    fraction = rng.choice((0, 0, 0, 1, 999_999))
    return seconds(rng.randrange(span)).replace(microsecond=fraction)


def random_event(rng, span=6):
    """An event with few attributes, seldom none."""
    row = Row(
        issued_before=random_time(rng, span), revoked_at=random_time(rng, span)
    )
    number = rng.choices((0, 1, 2, 3, 4), (1, 16, 12, 6, 3))[0]
    for name in rng.sample((*EVENT_IDS, 'expires_at'), number):
        if name == 'expires_at':
            row.expires_at = random_time(rng, 3)
        else:
            setattr(row, name, rng.choice(IDS))
    return row


def random_token(rng, span=6):
    """A token that lacks some values."""
    values = {
        name: rng.choice(IDS) for name in TOKEN_IDS if rng.random() < 0.6
    }
    return token(
        **values,
        roles=rng.sample(IDS, rng.randrange(3)),
        issued_at=random_time(rng, span),
        expires_at=random_time(rng, 3),
    )


def times(span):
    """Strategy: moments within span seconds past noon, some of them whole."""
    moments = strategies.integers(0, span - 1).map(seconds)
    fractions = strategies.sampled_from((0, 1, 500_000, 999_999))
    return strategies.builds(
        lambda moment, fraction: moment.replace(microsecond=fraction),
        moments,
        fractions,
    )


@strategies.composite
def events(draw):
    """Strategy: the columns of an event that sets up to four attributes."""
    values = {
        name: draw(strategies.sampled_from(IDS))
        for name in draw(
            strategies.lists(
                strategies.sampled_from(EVENT_IDS), max_size=3, unique=True
            )
        )
    }
    if draw(strategies.integers(0, 3)) == 0:
        values['expires_at'] = draw(times(3))
    values['issued_before'] = draw(times(5))
    values['revoked_at'] = draw(times(5))
    return values


def tokens():
    """Strategy: the values of a token."""
    ids = dict.fromkeys(TOKEN_IDS, strategies.sampled_from((None, *IDS)))
    return strategies.fixed_dictionaries(
        {
            **ids,
            'issued_at': times(5),
            'expires_at': times(3),
            'roles': strategies.lists(
                strategies.sampled_from(IDS), max_size=2
            ),
        }
    )


def tree_of(*events):
    result = tree.RevocationTree()
    for event in events:
        result.add(event)
    return result
