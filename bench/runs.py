# SPDX-License-Identifier: Apache-2.0

"""What an experiment has measured: several runs of each side."""

from bench import steal_time
from bench import summary
from bench import table
from patchset import progress


class Runs:
    """The runs of stock and patched, by what they are about.

    :param names: names of the fields that say what that is, such as ``load``
    :param order: tuples of their values, in the order of the points; by
        default that in which they are measured
    """

    def __init__(self, *names, order=()):
        self._names = names
        #: {tuple of values: {name of a side: list of dicts}}
        self.measured = {about: {} for about in order}

    def measure(self, side, about, function, *arguments):
        """Measure one slice of time, without much stolen time if possible.

        :param side: a :class:`bench.testbed.Side`
        :param about: tuple of values
        :param function: called with the arguments; returns a dict with at
            least ``rate``, ``p50`` and ``p99``
        """
        self.add(
            side, about, steal_time.measure_undisturbed(function, *arguments)
        )

    def add(self, side, about, run):
        """Add a run of a side, and show its rate."""
        runs = self.measured.setdefault(about, {}).setdefault(side.name, [])
        runs.append(run)
        words = [
            f'{name} {value}'
            for name, value in zip(self._names, about, strict=True)
        ]
        progress.step(
            f'run {len(runs)}: {", ".join(words)}, {side.name}: '
            f'{table.rate(run["rate"])}/s'
        )

    def points(self, references=None, medians=(), **more):
        """Sum up the runs.

        :param references: function of a tuple of values that gives the runs
            of each side that its own are divided by, as in ``measured``; None
            divides them by those of stock
        :param medians: names of further fields, see
            :func:`bench.summary.medians`
        :param more: further arguments of :func:`bench.summary.compared`
        :returns: list of dicts, one for each tuple of values: these by name,
            and what :func:`bench.summary.compared` gives
        """
        found = []
        for about, runs in self.measured.items():
            if not runs:
                continue
            own = references and references(about)
            point = dict(zip(self._names, about, strict=True))
            point.update(summary.compared(runs, own, **more))
            for side in summary.sides(runs):
                point[side].update(summary.medians(runs[side], medians))
            found.append(point)
        return found
