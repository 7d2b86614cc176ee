# SPDX-License-Identifier: Apache-2.0

"""Statistics of the revocation event table."""

import datetime
import gc
import os
import time

from oslo_utils import timeutils

from keystone.cmd.revocation import command
import keystone.conf
from keystone.revoke.backends import base
from keystone.revoke import table_copy

CONF = keystone.conf.CONF

_HOUR = datetime.timedelta(hours=1)


def count(driver):
    """Count the events, using only the index.

    :param driver: the ``[revoke] driver``
    :returns: dict with the numbers of ``live``, ``expired`` and all events
        (``total``) and of those of the ``last_hour``, ``oldest`` and
        ``newest``, naive UTC datetimes or None, and ``most_in_memory``, the
        maximum number of live events kept by workers; 0 for no limit
    """
    cutoff = base.revoked_before_cutoff_time()
    live = driver.count_events(cutoff, command.LAST)
    expired = driver.count_events(command.FIRST, cutoff)
    last_hour = driver.count_events(timeutils.utcnow() - _HOUR, command.LAST)
    oldest, newest = driver.span_of_events()
    return {
        'live': live,
        'expired': expired,
        'total': live + expired,
        'last_hour': last_hour,
        'oldest': oldest,
        'newest': newest,
        'most_in_memory': CONF.revoke.max_events_in_memory,
    }


def load(driver):
    """Load the live events like a worker, measuring time and memory.

    :param driver: the ``[revoke] driver``
    :returns: dict with ``kinds`` ({attributes: number of distinct events}),
        ``distinct``, their sum, ``load_seconds``, and ``load_bytes``, the
        growth of the resident memory, or None if unknown
    """
    gc.collect()
    before = _resident()
    began = time.monotonic()
    copy = table_copy.TableCopy(driver)
    copy.load()
    seconds = time.monotonic() - began
    gc.collect()
    after = _resident()
    return {
        'kinds': {
            ' '.join(attributes) or 'none': number
            for attributes, number in copy.tree.counts().items()
        },
        'distinct': len(copy.tree),
        'load_seconds': seconds,
        'load_bytes': before and after - before,
    }


def _resident():
    """Resident memory of this process in bytes; None if unknown."""
    try:
        with open('/proc/self/statm') as statm:
            pages = int(statm.read().split()[1])
    except OSError:
        return None
    return pages * os.sysconf('SC_PAGE_SIZE')
