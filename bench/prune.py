# SPDX-License-Identifier: Apache-2.0

"""Cost of expired revocation events, for revocations and when pruned.

Two measurements:

The first revocation
    The duration of ``DELETE /v3/auth/tokens`` without expired rows in the
    table, and with a large number of them. Before each request, the rows are
    in the table; the cache was flushed, which also ends any interval in which
    Keystone would not prune again; and both tokens were validated. As long as
    the rows are still there afterwards, the request is repeated with another
    token.

Pruning under load
    20 clients validate and 5 tokens per second are revoked, in slices of time:
    with the expired rows and no other load, while ``keystone-manage
    revocation_prune --until-complete`` removes them, and after that. Patched
    only, as stock has no such command. A slice counts as pruning if the
    command ran from its start to its end.
"""

import contextlib
import dataclasses
import pathlib
import statistics
import tempfile
import threading
import time

from bench import client
from bench import events
from bench import load
from bench import rig
from bench import table
from bench import writing
from patchset import child
from patchset import errors
from patchset import progress

TITLE = 'Cost of expired events'
ROWS = {'small': 50_000, 'full': 1_000_000}
SECONDS = {'small': 3, 'full': 10}
REPEATS = {'small': 1, 'full': 3}
SLICES = 3  # quiet ones, before and after
RATE = 5  # revocations per second
CLIENTS = 20
_SAMPLES = 15  # requests for each repeat, where the rows stay
_WARM = 3  # requests
_SETTLE = 3  # seconds for the database to write what was filled in
_BATCH = 500  # rows; the command's default


def run(plan):
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: a list of dicts: two about the first revocation (``what`` is
        ``first revocation``; ``expired`` rows; for each side what
        :func:`latency` gives), and one about pruning (``what`` is
        ``pruning``; what :func:`beside_load` gives)
    """
    rows = ROWS[plan.scale]
    times = {}
    with rig.both(plan) as sides:
        pruning = beside_load(sides[1], rows, SECONDS[plan.scale])
        for side in sides:
            # Connections and code that nothing has used yet.
            first(side, 0, _WARM)
        for number in range(REPEATS[plan.scale]):
            for side in rig.turn(sides, number):
                events.empty(side)
                for expired in (0, rows):
                    found = times.setdefault((side.name, expired), [])
                    found.append(first(side, expired))
                    progress.step(
                        f'{number + 1} of {REPEATS[plan.scale]}: {side.name}, '
                        f'{expired} expired rows: revoked in '
                        f'{found[-1][0]:.0f} ms'
                    )
    return [
        *points(times, rows),
        {'what': 'pruning', 'expired': rows, **pruning},
    ]


def first(side, expired, samples=_SAMPLES):
    """Milliseconds of first revocations; see the module."""
    if expired:
        progress.step(f'{side.name}: adding {expired} expired rows')
        events.add_expired(side, expired)
        time.sleep(_SETTLE)
    caller, *doomed = client.tokens(side.keystone, 1 + samples)
    found = []
    for token in doomed:
        side.forget()
        headers = client.headers(token, caller)
        load.each(side.url, [headers] * rig.PROCESSES, 2)
        start = time.monotonic()
        client.revoke(side.keystone, caller, token)
        found.append(1000 * (time.monotonic() - start))
        if events.count(side) < expired / 2:
            break
    return found


def points(times, rows):
    """Sum up the first revocations.

    :param times: {(side, expired rows): list with a list of milliseconds
        for each repeat}
    """
    return [
        {
            'what': 'first revocation',
            'expired': expired,
            **{
                side: latency(times[side, expired], times[side, 0])
                for side in ('stock', 'patched')
            },
        }
        for expired in (0, rows)
    ]


def latency(repeats, own):
    """Sum up one side.

    :param repeats: list of lists of milliseconds
    :param own: the same with no expired row
    :returns: dict with the median ``ms``, ``spread`` ([least, most]),
        ``of_own_0`` (medians' ratio) and ``runs``, the list of lists
    """
    every = [one for times in repeats for one in times]
    base = statistics.median(one for times in own for one in times)
    return {
        'ms': statistics.median(every),
        'spread': _ends(every),
        'of_own_0': statistics.median(every) / base,
        'runs': repeats,
    }


def beside_load(side, rows, seconds):
    """Validate and revoke, without and with the pruner.

    :returns: dict with ``quiet`` and ``pruning`` (lists with the fields of
        :class:`bench.load.Measure` for each slice), ``p99_ratio`` (medians,
        pruning by quiet), ``memory`` (the pruner's resident KiB when it had
        deleted its first batch, and at most), ``summary`` (its own words),
        the database's ``lock_waits`` and ``deadlocks`` meanwhile, and its
        ``longest_lock_wait`` since it was started
    :raises patchset.errors.Error: the pruner failed, or was done too soon
    """
    progress.step(f'{side.name}: adding {rows} expired rows')
    events.add_expired(side, rows)
    time.sleep(_SETTLE)
    headers = client.validators(side.keystone, CLIENTS)
    load.each(side.url, headers, 3)

    def part(words):
        with writing.revoking(side.keystone, RATE, seconds):
            validated = load.together(side.url, headers, seconds)
        progress.step(f'{words}: p99 {validated.p99} ms')
        return dataclasses.asdict(validated)

    quiet = [part('quiet, before') for _ in range(SLICES)]
    busy = []
    before = side.sql.locks(side.database)
    with Pruner(side) as pruner:
        pruner.wait_for_a_batch()
        while pruner.is_running():
            busy.append(part('pruning'))
        complete = busy[:-1]
        summary = pruner.result()
    after = side.sql.locks(side.database)
    if not complete:
        raise errors.Error('the pruner finished within one time slice')
    quiet += [part('quiet, after') for _ in range(SLICES)]
    return {
        'quiet': quiet,
        'pruning': complete,
        'p99_ratio': _p99(complete) / _p99(quiet),
        'memory': pruner.memory,
        'summary': summary,
        'lock_waits': after['waits'] - before['waits'],
        'deadlocks': after['deadlocks'] - before['deadlocks'],
        'longest_lock_wait': after['longest'],
    }


class Pruner:
    """``keystone-manage revocation_prune``, which ends with the block."""

    def __init__(self, side):
        self._side = side
        self._process = None
        self._samples = []

    def __enter__(self):
        self._oldest = self._find_oldest()
        self._output = tempfile.TemporaryFile('w+')
        self._process = self._side.keystone.manage(
            ['revocation_prune', '--until-complete'],
            stdout=self._output,
            stderr=self._output,
        )
        self._watch = threading.Thread(target=self._sample, daemon=True)
        self._watch.start()
        return self

    def __exit__(self, *_):
        child.stop(self._process)
        self._watch.join()
        self._output.close()

    @property
    def memory(self):
        """Resident KiB: after the first batch, and at most from then on."""
        return {'first': self._samples[0], 'most': max(self._samples)}

    def is_running(self):
        """Whether it still works."""
        return self._process.poll() is None

    def wait_for_a_batch(self):
        """Wait until it has deleted its first rows.

        :raises patchset.errors.Error: it ended before
        """
        while self._find_oldest() < self._oldest + _BATCH:
            if not self.is_running():
                raise errors.Error(f'revocation_prune: {self._last_line()}')
            time.sleep(0.05)
        self._samples.clear()
        self._samples.append(self._resident())

    def result(self):
        """Its last line.

        :raises patchset.errors.Error: it did not delete what has expired
        """
        # 1 says that rows were deleted.
        if self._process.returncode != 1:
            raise errors.Error(f'revocation_prune: {self._last_line()}')
        return self._last_line()

    def _last_line(self):
        self._output.seek(0)
        lines = self._output.read().strip().splitlines()
        return lines[-1].strip() if lines else 'it said nothing'

    def _find_oldest(self):
        ((oldest,),) = self._side.query('SELECT MIN(id) FROM revocation_event')
        return int(oldest)

    def _sample(self):
        while self.is_running():
            with contextlib.suppress(FileNotFoundError, StopIteration):
                self._samples.append(self._resident())
            time.sleep(0.2)

    def _resident(self):
        status = pathlib.Path(f'/proc/{self._process.pid}/status').read_text()
        return next(
            int(line.split()[1])
            for line in status.splitlines()
            if line.startswith('VmRSS:')
        )


def _ends(values):
    return [min(values), max(values)]


def _p99(slices):
    return statistics.median(one['p99'] for one in slices)


def text(found):
    """The results as two tables."""
    rows = []
    for point in found[:-1]:
        for side in ('stock', 'patched'):
            one = point[side]
            rows.append(
                [
                    point['expired'], side, f'{one["ms"]:.0f}',
                    table.spread(one['spread']), f'{one["of_own_0"]:.2f}',
                    sum(map(len, one['runs'])),
                ]
            )  # fmt: skip
    latencies = table.render(
        ['expired', 'side', 'revocation ms', 'spread', 'of own 0', 'runs'],
        rows,
    )
    pruning = found[-1]
    rows = []
    for name in ('quiet', 'pruning'):
        slices = pruning[name]
        rows.append(
            [
                name,
                f'{statistics.median(one["rate"] for one in slices):.1f}',
                f'{_p99(slices):.0f}',
                table.spread(_ends([one['p99'] for one in slices])),
                len(slices),
            ]
        )
    memory = pruning['memory']
    lines = [
        table.render(
            ['patched', 'validated/s', 'p99 ms', 'spread', 'slices'], rows
        ),
        f'p99 while pruning, of the quiet one: {pruning["p99_ratio"]:.2f}',
        f'{pruning["lock_waits"]} lock waits, '
        f'{pruning["deadlocks"]} deadlocks; longest wait since the start: '
        f'{pruning["longest_lock_wait"]}',
        f'memory of the pruner: {memory["first"] / 1024:.1f} MiB after its '
        f'first batch, {memory["most"] / 1024:.1f} MiB at most',
        pruning['summary'],
    ]
    return '\n'.join([latencies, '', *lines])
