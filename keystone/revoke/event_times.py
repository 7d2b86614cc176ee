# SPDX-License-Identifier: Apache-2.0

"""Times in requests and responses of OS-REVOKE/events.

Events have whole seconds, and so have these times. All of them are naive UTC
datetimes.
"""

import http

from oslo_utils import timeutils
from werkzeug import http as http_dates

from keystone.revoke.backends import base


def parse_since(text):
    """Parse the ``since`` of a query, in RFC 1123 or ISO 8601 format.

    Fractions of a second are truncated, since an event of that second may be
    later.

    :param text: value sent by the client
    :returns: naive UTC datetime, in whole seconds
    :raises ValueError: it has neither format, or is out of range
    """
    try:
        moment = http_dates.parse_date(text) or timeutils.parse_isotime(text)
        return timeutils.normalize_time(moment).replace(microsecond=0)
    except OverflowError as error:
        raise ValueError(str(error)) from error


def dated(body, events, since=None):
    """Add the Date header to a response, for use as the next ``since``.

    This is the time of the newest event. Without any events, it is the
    ``since`` of this query, or the time up to which events are kept.

    :param body: the body of the response
    :param events: list of RevokeEvent
    :param since: result of :func:`parse_since`, or None
    :returns: what a resource returns: body, status and headers
    """
    recorded = [event.revoked_at for event in events]
    oldest = since or base.revoked_before_cutoff_time()
    date = http_dates.http_date(max(recorded, default=oldest))
    return body, http.HTTPStatus.OK, {'Date': date}
