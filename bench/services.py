# SPDX-License-Identifier: Apache-2.0

"""Validation of each token by each service.

keystonemiddleware caches validated tokens for several minutes, so Keystone
receives each pair of a service and a token once in that time, at any of its
processes. Tokens are issued for a password, to users with the role ``member``,
immediately before they are validated. The cases:

``services``
    Six services with a token each, of users with the role ``service``,
    validate 300 tokens of 20 users, each pair once: all by the first service,
    then all by the other five in a random order. Then each pair is validated
    once more.
``nodes``
    The same on two nodes with one database and one memcached. They receive the
    requests in turns; the second validation of a pair goes to the other node.
``users``
    1,000 tokens of 40 users by one service, and once more.
``rescoping``
    Tokens for other tokens, one request after the other.
``middleware``
    Requests to a service behind keystonemiddleware, which validates their
    tokens: one token repeatedly, with several values of ``token_cache_time``,
    and 500 new tokens without its cache.
``processes``
    As ``services``, with one, four and eight processes instead of two.
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
