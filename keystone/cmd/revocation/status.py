# SPDX-License-Identifier: Apache-2.0

import datetime
import gc
import os
import time

from oslo_utils import timeutils
import prettytable

from keystone.cmd.revocation import command
from keystone.common import replaced_file
import keystone.conf
from keystone.revoke.backends import base
from keystone.revoke import table_copy

CONF = keystone.conf.CONF

_HOUR = datetime.timedelta(hours=1)

# Permissions of the file that is written.
_FOR_ALL = 0o644


class RevocationStatus(command.Status):
    """Show the number of revocation events and the cost of loading them."""

    name = 'revocation_status'
    title = 'REVOCATION'
    prefix = 'keystone_revocation'

    @classmethod
    def add_arguments(cls, parser):
        super().add_arguments(parser)
        parser.add_argument(
            '--output',
            metavar='FILE',
            help='File to write, replaced atomically. (Default: standard '
            'output)',
        )
        parser.add_argument(
            '--no-load',
            action='store_true',
            help='Skip loading the live events, which measures time and '
            'memory.',
        )
        for level in ('warning', 'critical'):
            parser.add_argument(
                f'--{level}',
                type=command.number(int, 0),
                metavar='NUMBER',
                help='Print one line and exit as a monitoring plugin, with '
                f'{level} if there are more live events than this.',
            )

    def run(self, options):
        limits = (options.warning, options.critical)
        plugin = limits != (None, None)
        if plugin and (options.format or options.output):
            raise command.Stop(
                self.wrong_arguments,
                '--format and --output cannot be used with --warning and '
                '--critical',
            )
        if None not in limits and options.warning > options.critical:
            raise command.Stop(
                self.wrong_arguments,
                f'--warning {options.warning} is greater than '
                f'--critical {options.critical}',
            )
        driver = self.driver()
        found = self.read(_count, driver)
        if plugin:
            return self._judge(found, *limits)
        # A worker does not load more than the limit either.
        loads = found['live'] <= found['most_in_memory']
        if loads and not options.no_load:
            found.update(self.read(_load, driver))
        self._write(self.text(options, found), options.output)
        return 0

    def table(self, figures):
        rows = [
            ('live', f'{figures["live"]:,}'),
            ('expired, not yet pruned', f'{figures["expired"]:,}'),
            ('total', f'{figures["total"]:,}'),
            ('recorded in the last hour', f'{figures["last_hour"]:,}'),
            ('maximum kept in memory', f'{figures["most_in_memory"]:,}'),
            ('oldest', command.moment(figures['oldest'])),
            ('newest', command.moment(figures['newest'])),
        ]
        if 'kinds' in figures:
            for kind, number in sorted(figures['kinds'].items()):
                rows.append((f'distinct, by {kind}', f'{number:,}'))
            rows.append(('distinct', f'{figures["distinct"]:,}'))
            seconds, size = figures['load_seconds'], figures['load_bytes']
            rows.append(('load time in seconds', f'{seconds:.1f}'))
            if size is not None:
                mib = f'{size / 2**20:.1f}'
                rows.append(('MiB of memory per worker', mib))
        table = prettytable.PrettyTable(['Revocation events', 'Value'])
        table.align = 'l'
        table.add_rows(rows)
        return table.get_string()

    def gauges(self, figures):
        yield (
            'events',
            'Revocation events in the table.',
            [({'state': name}, figures[name]) for name in ('live', 'expired')],
        )
        yield (
            'events_last_hour',
            'Revocation events recorded in the last hour.',
            [({}, figures['last_hour'])],
        )
        yield (
            'most_events_in_memory',
            'Maximum number of live events kept by workers; 0 for none.',
            [({}, figures['most_in_memory'])],
        )
        for name in ('oldest', 'newest'):
            moment = figures[name]
            yield (
                f'{name}_event_timestamp_seconds',
                f'When the {name} revocation event was recorded.',
                [({}, moment and (moment - command.FIRST).total_seconds())],
            )
        if 'kinds' in figures:
            kinds = sorted(figures['kinds'].items())
            yield (
                'distinct_events',
                'Distinct live revocation events, by their attributes.',
                [({'kind': kind}, number) for kind, number in kinds],
            )
            yield (
                'load_seconds',
                'Time a worker takes to load the live events.',
                [({}, round(figures['load_seconds'], 3))],
            )
            yield (
                'load_bytes',
                'Memory a worker uses for the live events.',
                [({}, figures['load_bytes'])],
            )

    def _judge(self, found, warning, critical):
        """Compare the number of live events with the thresholds."""
        live, expired = found['live'], found['expired']
        code = command.OK
        if warning is not None and live > warning:
            code = command.WARNING
        if critical is not None and live > critical:
            code = command.CRITICAL
        limits = ';'.join(
            '' if limit is None else str(limit)
            for limit in (warning, critical)
        )
        words = (
            f'{live} live revocation events, {expired} expired | '
            f'live={live};{limits};0 expired={expired};;;0 '
            f'last_hour={found["last_hour"]};;;0'
        )
        print(self.line(code, words))
        return code

    def _write(self, text, path):
        if path is None:
            print(text)
            return
        # Replacing a link or a device, such as /dev/stdout, would lose it.
        target = os.path.realpath(path)
        if os.path.exists(target) and not os.path.isfile(target):
            raise command.Stop(
                command.UNKNOWN, f'--output {path}: not a regular file'
            )
        try:
            replaced_file.replace(target, f'{text}\n', _FOR_ALL)
        except OSError as error:
            raise command.Stop(
                command.UNKNOWN, f'--output {path}: {error.strerror}'
            ) from None


def _count(driver):
    """Count the events, using only the index.

    :param driver: the ``[revoke] driver``
    :returns: dict with the numbers of ``live``, ``expired`` and all events
        (``total``) and of those of the ``last_hour``, ``oldest`` and
        ``newest``, naive UTC datetimes or None, and ``most_in_memory``, the
        maximum number of live events kept by workers; 0 for none
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


def _load(driver):
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
