# SPDX-License-Identifier: Apache-2.0

"""Creating and validating tokens, with memcached and without a cache.

Without a cache, stock takes half a second for a validation, so that a run has
fewer requests there.
"""

from bench import client
from bench import load
from bench import runs
from bench import table
from bench import testbed

TITLE = 'Cost of a token, with memcached and without a cache'

CACHES = {'memcached': {}, 'none': {'cache': {'enabled': False}}}
# What is asked, how many clients ask at once, and how often all together.
LOADS = (
    ('create', 1, 200),
    ('validate', 1, 200),
    ('create', 20, 1000),
    ('validate', 20, 500),
)
RUNS = {
    'small': {'create': 2, 'validate': 4},
    'full': {'create': 20, 'validate': 20},
}
# What part of the requests is sent where there is no cache.
UNCACHED = {'small': 40, 'full': 10}
TRAFFIC = ('gets', 'sets', 'bytes')  # of memcached, for each request


def footprint(scale):
    """How many tokens a run issues at an existing Keystone, and revokes."""
    issued = 0
    for what, clients, requests in LOADS:
        count = 1  # which validates itself
        if what == 'create':
            count = amount(scale, 'as it is', what, clients, requests)
        issued += repeats(scale, 'as it is', what) * count
    return issued, 0


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    with testbed.variants(plan, CACHES) as rigs:
        results = new_runs(rigs)
        for number in range(max(RUNS[plan.scale].values())):
            for what, clients, requests in LOADS:
                for cache, sides in rigs.items():
                    if number >= repeats(plan.scale, cache, what):
                        continue
                    count = amount(plan.scale, cache, what, clients, requests)
                    for side in sides:
                        results.measure(
                            side, (cache, what, clients), measure, side, what,
                            clients, count,
                        )  # fmt: skip
    return results.points(medians=TRAFFIC)


def new_runs(caches):
    """Runs without any yet, with some caches."""
    order = [(cache, *load[:2]) for cache in caches for load in LOADS]
    return runs.Runs('cache', 'what', 'clients', order=order)


def repeats(scale, cache, what):
    """How many runs there are.

    :param what: ``create`` or ``validate``
    """
    return 1 if (scale, cache) == ('small', 'none') else RUNS[scale][what]


def amount(scale, cache, what, clients, requests):
    """How many requests there are in one run.

    :param requests: how many there are at full scale with memcached
    """
    if cache == 'none':
        requests //= UNCACHED[scale]
    elif (scale, what) == ('small', 'create'):
        requests //= 4
    return max(requests, clients)


def request(side, what) -> list:
    """A request that creates a token, or validates one that is issued now.

    :param what: ``create`` or ``validate``
    """
    if what == 'create':
        return [('', '', client.login_body(side.keystone))]
    return load.validations([client.token(side.keystone)])


def measure(side, what, clients, requests):
    """Send a number of requests.

    :param what: ``create`` or ``validate``
    :param clients: how many of them are under way at once
    :returns: the result of :meth:`bench.load.Answers.measure`, and for
        each request the keys that were read from memcached (``gets``), the
        values written (``sets``), and the ``bytes`` both ways, if the side
        has a memcached that can be asked
    """
    one = request(side, what)
    before = side.cache.stats() if side.cache else None
    # No more than these, or the counters would have more.
    answers = load.exactly(side.url, one * requests, clients)
    spent = {}
    if before:
        spent = traffic(before, side.cache.stats(), answers.requests)
    return {**answers.measure(), **spent}


def traffic(before, after, requests):
    """What memcached was asked for each request.

    :param before: its counters before the requests
    :param after: its counters after them
    :returns: dict with ``gets``, ``hits`` (of them), ``sets`` and ``bytes``
    """

    def grown(*names):
        more = sum(int(after[name]) - int(before[name]) for name in names)
        return more / requests

    return {
        'gets': grown('cmd_get'),
        'hits': grown('get_hits'),
        'sets': grown('cmd_set'),
        'bytes': grown('bytes_read', 'bytes_written'),
    }


#: The points as a table.
text = table.of_sides(
    'cache', ('request', 'what'), 'clients', table.SIDE,
    table.RATE, *table.RATIO, *table.times(),
    ('gets', 'gets', '{:.1f}'), ('sets', 'sets', '{:.1f}'),
    ('KiB', 'bytes', lambda count: f'{count / 1024:.1f}'), table.RUNS,
)  # fmt: skip
