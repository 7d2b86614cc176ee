# SPDX-License-Identifier: Apache-2.0

"""Revocation events for a token and for the tokens of its chain.

They are computed from the token, so that they match it regardless of the clock
of the node.
"""

import datetime

from oslo_utils import timeutils

from keystone.models import revoke_model


def _whole_seconds_up(text):
    # The database drops or rounds a fraction; rounded down, the event would
    # miss a token that was issued within the same second.
    moment = timeutils.normalize_time(timeutils.parse_isotime(text))
    if moment.microsecond:
        moment += datetime.timedelta(seconds=1)
    return moment.replace(microsecond=0)


def _issued_before(token):
    # A token can only be rescoped before its expiry, so none that is rescoped
    # from it can be issued later, on any node and by any clock.
    return max(
        timeutils.utcnow().replace(microsecond=0),
        _whole_seconds_up(token.issued_at),
        _whole_seconds_up(token.expires_at),
    )


def of_token(token):
    """Create the event that revokes one token.

    :param token: a TokenModel
    :returns: a RevokeEvent that names the token's audit id
    """
    return revoke_model.RevokeEvent(
        audit_id=token.audit_id, issued_before=_issued_before(token)
    )


def of_chain(token):
    """Create the event that revokes the tokens rescoped from a token.

    :param token: a TokenModel
    :returns: a RevokeEvent that names the chain of which it is the root
    """
    return revoke_model.RevokeEvent(
        audit_chain_id=token.audit_id, issued_before=_issued_before(token)
    )
