# SPDX-License-Identifier: Apache-2.0

"""The times that OS-REVOKE/events takes from and gives to its clients.

Events carry whole seconds, so whole seconds are what is asked and answered.
All times are naive UTC datetimes.
"""

from oslo_utils import timeutils
from werkzeug import http

from keystone.revoke.backends import base


def parse_since(text):
    """Read the ``since`` of a query, in RFC 1123 or in ISO 8601 form.

    A fraction of a second is cut off: an event of that second may have
    happened after it.

    :param text: what the client sent
    :returns: naive UTC datetime, in whole seconds
    :raises ValueError: it is neither, or beyond what a datetime can hold
    """
    moment = http.parse_date(text) or timeutils.parse_isotime(text)
    try:
        return timeutils.normalize_time(moment).replace(microsecond=0)
    except OverflowError as error:
        raise ValueError(str(error)) from error


def http_date(events, since=None):
    """The Date header of an answer: the ``since`` of the client's next query.

    That is when the newest of the events was recorded. Without any event, it
    is a moment after which nothing can have been missed: the ``since`` of
    this query, or the age up to which events are kept.

    :param events: list of RevokeEvent
    :param since: what :func:`parse_since` made of the query, if anything
    :returns: string in RFC 1123 form
    """
    recorded = [event.revoked_at for event in events]
    oldest = since or base.revoked_before_cutoff_time()
    return http.http_date(max(recorded, default=oldest))
