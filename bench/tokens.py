# SPDX-License-Identifier: Apache-2.0

"""Creation and validation of tokens, with memcached and without a cache.

A run without a cache has fewer requests, because a validation by stock then
takes half a second.
"""

from bench import client
from bench import load
from bench import runs
from bench import table
from bench import testbed

TITLE = 'Cost of a token, with memcached and without a cache'

CACHES = {'memcached': {}, 'none': {'cache': {'enabled': False}}}
# Request, number of clients, and number of requests of all clients.
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
# Divisor of the number of requests without a cache.
UNCACHED = {'small': 40, 'full': 10}
TRAFFIC = ('gets', 'sets', 'bytes')  # with memcached, per request


def footprint(scale):
    """Numbers of tokens issued and revoked on an existing Keystone."""
    issued = 0
    for what, clients, requests in LOADS:
        count = 1  # it validates itself
        if what == 'create':
            count = amount(scale, 'as it is', what, clients, requests)
        issued += repeats(scale, 'as it is', what) * count
    return issued, 0


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    with testbed.variants(plan, CACHES) as variants:
        results = runs.Runs('cache', 'what', 'clients')
        for number in range(max(RUNS[plan.scale].values())):
            for (what, clients, requests), (cache, side) in testbed.rounds(
                variants, 1, LOADS
            ):
                if number >= repeats(plan.scale, cache, what):
                    continue
                count = amount(plan.scale, cache, what, clients, requests)
                results.measure(
                    side, (cache, what, clients), measure, side, what,
                    clients, count,
                )  # fmt: skip
    return results.points(medians=TRAFFIC)


def repeats(scale, cache, what):
    """Number of runs.

    :param what: ``create`` or ``validate``
    """
    return 1 if (scale, cache) == ('small', 'none') else RUNS[scale][what]


def amount(scale, cache, what, clients, requests):
    """Number of requests in a run.

    :param requests: their number at full scale with memcached
    """
    if cache == 'none':
        requests //= UNCACHED[scale]
    elif (scale, what) == ('small', 'create'):
        requests //= 4
    return max(requests, clients)


def request(side, what) -> list:
    """A request that creates a token, or validates a new one: a list.

    :param what: ``create`` or ``validate``
    """
    if what == 'create':
        return [('', '', client.login_body(side.keystone))]
    return load.validations([client.token(side.keystone)])


def measure(side, what, clients, requests):
    """Send a number of requests.

    :param what: ``create`` or ``validate``
    :param clients: number of concurrent requests
    :returns: the result of :meth:`bench.load.Answers.measure`, and for
        each request the keys read from memcached (``gets``), the values
        written (``sets``), and the ``bytes`` sent and received, if the side
        has a memcached
    """
    message = request(side, what)
    before = side.cache.stats() if side.cache else None
    # Exactly these: the counters are divided by their number.
    answers = load.exactly(side.url, message * requests, clients)
    counts = {}
    if before:
        counts = traffic(before, side.cache.stats(), answers.requests)
    return {**answers.measure(), **counts}


def traffic(before, after, requests):
    """Traffic with memcached per request.

    :param before: its counters before the requests
    :param after: its counters after the requests
    :returns: dict with ``gets``, ``hits`` (of them), ``sets`` and ``bytes``
    """

    def per_request(*names):
        count = sum(int(after[name]) - int(before[name]) for name in names)
        return count / requests

    return {
        'gets': per_request('cmd_get'),
        'hits': per_request('get_hits'),
        'sets': per_request('cmd_set'),
        'bytes': per_request('bytes_read', 'bytes_written'),
    }


text = table.of_sides(
    'cache', ('request', 'what'), 'clients', table.SIDE,
    table.RATE, *table.RATIO, *table.times(),
    ('gets', 'gets', '{:.1f}'), ('sets', 'sets', '{:.1f}'),
    ('KiB', 'bytes', lambda count: f'{count / 1024:.1f}'), table.RUNS,
)  # fmt: skip
