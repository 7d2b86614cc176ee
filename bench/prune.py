# SPDX-License-Identifier: Apache-2.0

"""Cost of expired revocation events, for revocations and when pruned.

First revocations: as long as the expired rows are still there after a request,
it is repeated with another token.

Pruning under load: a slice counts as pruning if the command ran from its start
to its end.
"""

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
    with testbed.both(plan) as sides:
        pruning = beside_load(sides[1], rows, SECONDS[plan.scale])
        for side in sides:
            # Connections and code that nothing has used yet.
            first(side, 0, _WARM)
        for number in range(REPEATS[plan.scale]):
            for side in sides:
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
        add_expired(side, expired)
    caller, *doomed = client.tokens(side.keystone, 1 + samples)
    found = []
    for token in doomed:
        side.flush_cache()
        requests = load.validations([token] * 2 * testbed.PROCESSES, caller)
        load.exactly(side.url, requests, testbed.PROCESSES)
        found.append(
            client.milliseconds(client.revoke, side.keystone, caller, token)
        )
        if events.count(side) < expired / 2:
            break
    return found


def add_expired(side, rows):
    """Add expired rows, and give the database time to write them."""
    progress.step(f'{side.name}: adding {rows} expired rows')
    events.add_expired(side, rows)
    time.sleep(_SETTLE)


def points(times, rows):
    """Sum up the first revocations.

    :param times: {(side, expired rows): list with a list of milliseconds
        for each repeat}
    """
    return [
        {'what': 'first revocation', 'expired': expired}
        | {
            side: latency(times[side, expired], times[side, 0])
            for side in ('stock', 'patched')
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

    :returns: dict with ``quiet`` and ``pruning`` (for each slice what
        :meth:`bench.load.Answers.measure` returns), ``p99_ratio`` (medians,
        pruning by quiet), ``memory`` (the pruner's resident KiB when it had
        deleted its first batch, and at most), ``summary`` (its own words),
        the database's ``lock_waits`` and ``deadlocks`` meanwhile, and its
        ``longest_lock_wait`` since it was started
    :raises patchset.errors.Error: the pruner failed, or was done too soon
    """
    add_expired(side, rows)
    requests = load.validations(client.tokens(side.keystone, CLIENTS))
    load.exactly(side.url, requests * 3, CLIENTS)

    def validate():
        with background.revocations(side.keystone, RATE, seconds):
            return load.during(side.url, requests, seconds, CLIENTS).measure()

    def part(words):
        one = steal_time.measure_undisturbed(validate)
        progress.step(f'{words}: p99 {one["p99"]} ms')
        return one

    quiet = [part('quiet, before') for _ in range(SLICES)]
    before = side.sql.locks(side.database)
    busy, used, words = prune(side, lambda: part('pruning'))
    after = side.sql.locks(side.database)
    quiet += [part('quiet, after') for _ in range(SLICES)]
    return {
        'quiet': quiet,
        'pruning': busy,
        'p99_ratio': _p99(busy) / _p99(quiet),
        'memory': used,
        'summary': words,
        'lock_waits': after['waits'] - before['waits'],
        'deadlocks': after['deadlocks'] - before['deadlocks'],
        'longest_lock_wait': after['longest'],
    }


def prune(side, part):
    """Run ``keystone-manage revocation_prune``, and slices beside it.

    :param part: runs a slice
    :returns: list of what the complete ones gave, its memory as
        :func:`beside_load` gives it, and its last line
    """
    parts, oldest = [], _oldest(side)
    command = ['revocation_prune', '--until-complete']
    with tempfile.TemporaryFile('w+') as output:
        process = side.keystone.manage(command, stdout=output, stderr=output)
        try:
            while process.poll() is None and _oldest(side) < oldest + _BATCH:
                time.sleep(0.05)
            used = {'first': memory.kilobytes(process.pid, 'status', 'VmRSS')}
            while process.poll() is None:
                # Once it has ended, the kernel does not tell.
                most = memory.kilobytes(process.pid, 'status', 'VmHWM')
                used['most'] = most or used.get('most')
                parts.append(part())
        finally:
            child.stop(process)
        output.seek(0)
        lines = output.read().strip().splitlines() or ['no output']
    # 1 says that rows were deleted.
    if process.returncode != 1:
        raise errors.Error(f'revocation_prune: {lines[-1]}')
    if len(parts) < 2:
        raise errors.Error('the pruner finished within one time slice')
    return parts[:-1], used, lines[-1].strip()


def _oldest(side):
    ((oldest,),) = side.query('SELECT MIN(id) FROM revocation_event')
    return int(oldest)


def _ends(values):
    return [min(values), max(values)]


def _p99(slices):
    return statistics.median(one['p99'] for one in slices)


_latencies = table.of_sides(
    'expired', table.SIDE, ('revocation ms', 'ms', '{:.0f}'),
    ('spread', 'spread', table.spread), ('of own 0', 'of_own_0', '{:.2f}'),
    ('runs', 'runs', lambda repeats: sum(map(len, repeats))),
)  # fmt: skip


def text(found):
    """The results as two tables."""
    *latencies, pruning = found
    rows = [
        [
            name,
            f'{statistics.median(one["rate"] for one in pruning[name]):.1f}',
            f'{_p99(pruning[name]):.0f}',
            table.spread(_ends([one['p99'] for one in pruning[name]])),
            len(pruning[name]),
        ]
        for name in ('quiet', 'pruning')
    ]
    head = ['patched', 'validated/s', 'p99 ms', 'spread', 'slices']
    used = pruning['memory']
    lines = [
        _latencies(latencies),
        '',
        table.render(head, rows),
        f'ratio of p99 with pruning and without: {pruning["p99_ratio"]:.2f}',
        f'{pruning["lock_waits"]} lock waits, '
        f'{pruning["deadlocks"]} deadlocks; longest wait since the start: '
        f'{pruning["longest_lock_wait"]}',
        f'memory of the pruner: {used["first"] / 1024:.1f} MiB after its '
        f'first batch, {used["most"] / 1024:.1f} MiB at most',
        pruning['summary'],
    ]
    return '\n'.join(lines)
