# SPDX-License-Identifier: Apache-2.0

"""Validation of each token by each service.

The cases are the methods of :class:`bench.service_cases.Experiment`.
"""

from bench import rig
from bench import service_cases
from bench import table
from patchset import progress

TITLE = 'Cost of validating each token by each service'
# That with other processes is the last one.
CASES = (
    'services', 'nodes', 'users', 'rescoping', 'middleware', 'processes',
)  # fmt: skip


def run(plan):
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: what :meth:`bench.runs.Runs.points` gives by case, where and
        load, and for each side the medians of
        :data:`bench.service_cases.TRAFFIC` (for each request), and ``refused``
        (seconds after which the service refuses a revoked token; None if not
        measured)
    """
    with rig.both(plan) as sides:
        progress.step('creating users')
        experiment = service_cases.Experiment(plan, sides)
        for case in CASES:
            if case in (plan.cases or CASES):
                getattr(experiment, case)()
    medians = (*service_cases.TRAFFIC, 'refused')
    return experiment.runs.points(medians=medians)


#: The points as a table.
text = table.of_sides(
    'case', 'where', 'load', table.SIDE, table.RATE, *table.BY_STOCK,
    *table.times('{:.1f}'),
    *((name, name, '{:.1f}') for name in service_cases.TRAFFIC),
    ('refused s', 'refused', '{:.2f}'), table.RUNS,
)  # fmt: skip
