# SPDX-License-Identifier: Apache-2.0

"""Results of an experiment: several runs of each side."""

from bench import steal_time
from bench import summary
from bench import table
from patchset import progress


class Runs:
    """The runs of all sides, grouped by the values of some fields.

    :param names: names of the fields, such as ``load``
    """

    def __init__(self, *names):
        self._names = names
        #: {tuple of values: {name of a side: list of dicts}}
        self.measured = {}

    def measure(self, side, values, function, *arguments):
        """Measure one time slice, without much steal time if possible.

        :param side: a :class:`bench.testbed.Side`
        :param values: tuple of the values of the fields
        :param function: called with the arguments; returns a dict with at
            least ``rate``, ``p50`` and ``p99``
        """
        run = steal_time.measure_undisturbed(function, *arguments)
        self.add(side, values, run)

    def add(self, side, values, run):
        """Add a run of a side, and show its rate."""
        runs = self.measured.setdefault(values, {}).setdefault(side.name, [])
        runs.append(run)
        fields = ', '.join(
            f'{name} {value}'
            for name, value in zip(self._names, values, strict=True)
        )
        progress.step(
            f'run {len(runs)}: {fields}, {side.name}: '
            f'{table.rate(run["rate"])}/s'
        )

    def points(self, references=None, medians=(), **options):
        """Summarize the runs.

        :param references: function of a tuple of values that returns the runs
            of each side by which its rates are divided, as in ``measured``;
            None divides them by those of stock
        :param medians: names of further fields, see
            :func:`bench.summary.medians`
        :param options: further arguments of :func:`bench.summary.point`
        :returns: list of dicts, one for each tuple of values: the values by
            name, and what :func:`bench.summary.point` returns
        """
        points = []
        for values, runs in self.measured.items():
            own = references and references(values)
            point = dict(zip(self._names, values, strict=True))
            point.update(summary.point(runs, own, **options))
            for side in summary.sides(runs):
                point[side].update(summary.medians(runs[side], medians))
            points.append(point)
        return points
