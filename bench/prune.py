# SPDX-License-Identifier: Apache-2.0

"""Cost of expired revocation events, for revocations and for pruning.

First revocations: while the expired rows are still there after a request, it
is repeated with another token.

Pruning under load: a time slice counts if the command ran from its start to
its end.
"""

import itertools
import statistics
import tempfile
import time

from bench import background
from bench import client
from bench import events
from bench import load
from bench import memory
from bench import steal_time
from bench import table
from bench import testbed
from patchset import errors
from patchset import progress

TITLE = 'Cost of expired events'
ROWS = {'small': 50_000, 'full': 1_000_000}
SECONDS = {'small': 3, 'full': 10}
REPEATS = {'small': 1, 'full': 3}
SLICES = 3  # without pruning, before and after
RATE = 5  # revocations per second
CLIENTS = 20
_SAMPLES = 15  # requests for each repetition, if the rows stay
_WARM = 3  # requests
_SETTLE = 3  # seconds for the database to write the new rows
_BATCH = 500  # rows; the default of the command


def run(plan):
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: a list of dicts: two about the first revocation (``what`` is
        ``first revocation``; ``expired`` rows; for each side the result of
        :func:`latency`), and one about pruning (``what`` is ``pruning``; the
        result of :func:`measure_pruning`)
    """
    rows = ROWS[plan.scale]
    times = {}
    with testbed.both(plan) as sides:
        pruning = measure_pruning(sides[1], rows, SECONDS[plan.scale])
        for side in sides:
            first_revocations(side, 0, _WARM)
        for number in range(REPEATS[plan.scale]):
            for side in sides:
                events.empty(side)
                for expired in (0, rows):
                    run = first_revocations(side, expired)
                    times.setdefault((side.name, expired), []).append(run)
                    progress.step(
                        f'{number + 1} of {REPEATS[plan.scale]}: {side.name}, '
                        f'{expired} expired rows: revoked in {run[0]:.0f} ms'
                    )
    return [
        *points(times, rows),
        {'what': 'pruning', 'expired': rows, **pruning},
    ]


def first_revocations(side, expired, samples=_SAMPLES):
    """Milliseconds of first revocations, see the module: a list."""
    if expired:
        add_expired(side, expired)
    caller, *tokens = client.tokens(side.keystone, 1 + samples)
    times = []
    for token in tokens:
        side.flush_cache()
        requests = load.validations([token] * 2 * testbed.PROCESSES, caller)
        load.exactly(side.url, requests, testbed.PROCESSES)
        times.append(
            client.milliseconds(client.revoke, side.keystone, caller, token)
        )
        if events.number(side, 'COUNT(*)') < expired / 2:
            break
    return times


def add_expired(side, rows):
    """Add expired rows, and give the database time to write them."""
    progress.step(f'{side.name}: adding {rows} expired rows')
    events.add_expired(side, rows)
    time.sleep(_SETTLE)


def points(times, rows):
    """Summarize the first revocations.

    :param times: {(side, expired rows): list with a list of milliseconds
        for each repetition}
    """
    return [
        {'what': 'first revocation', 'expired': expired}
        | {
            side: latency(times[side, expired], times[side, 0])
            for side in ('stock', 'patched')
        }
        for expired in (0, rows)
    ]


def latency(runs, references):
    """Summarize one side.

    :param runs: list of lists of milliseconds
    :param references: the same without expired rows
    :returns: dict with the median ``ms``, ``spread`` ([minimum, maximum]),
        ``of_own_0`` (ratio of the medians) and ``runs``
    """
    times = list(itertools.chain(*runs))
    median = statistics.median(times)
    return {
        'ms': median,
        'spread': [min(times), max(times)],
        'of_own_0': median / statistics.median(itertools.chain(*references)),
        'runs': runs,
    }


def measure_pruning(side, rows, seconds):
    """Validate and revoke tokens, without and with pruning.

    :returns: dict with ``quiet`` and ``pruning`` (list of results of
        :meth:`bench.load.Answers.measure`), ``p99_ratio`` (ratio of the
        medians), ``memory`` (resident KiB of the command after its first batch
        and at most), ``summary`` (output of the command), ``lock_waits`` and
        ``deadlocks`` of the database during pruning, and its
        ``longest_lock_wait`` since it was started
    :raises patchset.errors.Error: the command failed, or ended too soon
    """
    add_expired(side, rows)
    requests = load.validations(client.tokens(side.keystone, CLIENTS))
    load.exactly(side.url, requests * 3, CLIENTS)

    def validate():
        with background.revocations(side.keystone, RATE, seconds):
            return load.during(side.url, requests, seconds, CLIENTS).measure()

    def measure(label):
        run = steal_time.measure_undisturbed(validate)
        progress.step(f'{label}: p99 {run["p99"]} ms')
        return run

    quiet = [measure('before pruning') for _ in range(SLICES)]
    before = side.database.locks()
    pruning, memory_used, output = prune(side, lambda: measure('pruning'))
    after = side.database.locks()
    quiet += [measure('after pruning') for _ in range(SLICES)]
    return {
        'quiet': quiet,
        'pruning': pruning,
        'p99_ratio': _p99(pruning) / _p99(quiet),
        'memory': memory_used,
        'summary': output,
        'lock_waits': after['waits'] - before['waits'],
        'deadlocks': after['deadlocks'] - before['deadlocks'],
        'longest_lock_wait': after['longest'],
    }


def prune(side, measure):
    """Run ``keystone-manage revocation_prune``, and measure time slices.

    :param measure: function that measures a time slice
    :returns: list of the results of complete slices, the memory as in the
        result of :func:`measure_pruning`, and the last line of the output
    """
    runs, oldest = [], events.number(side, 'MIN(id)')
    command = ['revocation_prune', '--until-complete']
    with (
        tempfile.TemporaryFile('w+') as output,
        side.keystone.manage(command, stdout=output, stderr=output) as process,
    ):
        while (
            process.poll() is None
            and events.number(side, 'MIN(id)') < oldest + _BATCH
        ):
            time.sleep(0.05)
        size = memory.kilobytes(process.pid, 'status', 'VmRSS')
        memory_used = {'first': size}
        while process.poll() is None:
            # None if it has just ended.
            size = memory.kilobytes(process.pid, 'status', 'VmHWM')
            memory_used['most'] = size or memory_used.get('most')
            runs.append(measure())
        output.seek(0)
        lines = output.read().strip().splitlines() or ['no output']
    # 1 means that rows were deleted.
    if process.returncode != 1:
        raise errors.Error(f'revocation_prune: {lines[-1]}')
    if len(runs) < 2:
        raise errors.Error('pruning ended within one time slice')
    return runs[:-1], memory_used, lines[-1].strip()


def _p99(runs):
    return statistics.median(run['p99'] for run in runs)


_latencies = table.of_sides(
    'expired', table.SIDE, ('revocation ms', 'ms', '{:.0f}'),
    ('spread', 'spread', table.spread), ('of own 0', 'of_own_0', '{:.2f}'),
    ('runs', 'runs', lambda repeats: sum(map(len, repeats))),
)  # fmt: skip


def text(points):
    """The results as two tables."""
    *latencies, pruning = points
    rows = []
    for name in ('quiet', 'pruning'):
        rate = statistics.median(run['rate'] for run in pruning[name])
        times = [run['p99'] for run in pruning[name]]
        spread = table.spread([min(times), max(times)])
        p99 = f'{statistics.median(times):.0f}'
        rows.append([name, f'{rate:.1f}', p99, spread, len(times)])
    head = ['patched', 'validated/s', 'p99 ms', 'spread', 'slices']
    memory_used = pruning['memory']
    lines = [
        _latencies(latencies),
        '',
        table.render(head, rows),
        f'ratio of p99 with pruning and without: {pruning["p99_ratio"]:.2f}',
        f'{pruning["lock_waits"]} lock waits, '
        f'{pruning["deadlocks"]} deadlocks; longest wait since the start: '
        f'{pruning["longest_lock_wait"]}',
        f'memory of the command: {memory_used["first"] / 1024:.1f} MiB after '
        f'its first batch, {memory_used["most"] / 1024:.1f} MiB at most',
        pruning['summary'],
    ]
    return '\n'.join(lines)
