# SPDX-License-Identifier: Apache-2.0

"""Stock and patched Keystone at the same time, with equal servers."""

import contextlib
import itertools

from bench import client
from bench import cloud
from bench import databases
from bench import delay_proxy
from patchset import deployment
from patchset import keystone_conf
from patchset import paths
from patchset import progress
from patchset import system
from patchset.services import memcached
from patchset.services import server
from patchset.test_parts import cloud as keystones

# With more threads, stock can respond with values that another request left on
# the thread, such as a deleted role.
PROCESSES = 2


class Side:
    """Stock or patched: a Keystone, its database and its cache.

    An existing Keystone has neither of the latter: only its API is used.

    :param name: ``stock``, ``patched`` or ``cloud``
    :param keystone: a :class:`patchset.deployment.Deployment`, running, or a
        :class:`bench.cloud.Account`
    :param database: the running server of its database, one of
        :data:`bench.databases.ALL`
    :param cache: a :class:`patchset.services.memcached.Memcached`
    """

    def __init__(self, name, keystone, database=None, cache=None):
        self.name = name
        self.keystone = keystone
        self.database = database
        self.cache = cache

    def query(self, statement):
        """Run SQL on this side's database."""
        return self.database.query(statement, self.name)

    @property
    def url(self):
        """URL for validating a token."""
        return f'{self.keystone.url}/auth/tokens'

    @property
    def processes(self):
        """Number of server processes."""
        return self.keystone.processes

    def flush_cache(self):
        """Flush the cache, so that Keystone reads changed tables."""
        if self.cache:
            self.cache.flush()

    def delete_events(self):
        """Delete the revocation events, and flush the cache."""
        if self.database:
            # After TRUNCATE, row ids would be assigned again.
            self.query('DELETE FROM revocation_event')
        self.flush_cache()


def rounds(sides, count, loads):
    """Each load in each round, on alternating sides, or sides of variants.

    Each measurement follows one of the other side. With a different order in
    each round, a side could have two measurements in a row.

    :param count: number of rounds
    :returns: iterator of (load, side)
    """
    for _ in range(count):
        yield from itertools.product(loads, sides)


def for_each_side(function, sides):
    """Call a function with both sides concurrently, for example to set up.

    :returns: {side: result of the function}
    """
    results = client.map_concurrently(function, sides)
    return dict(zip(sides, results, strict=True))


def temporary_folder():
    """A temporary folder for servers, which is accessible to their users.

    It also contains what an interrupted server leaves.
    """
    return paths.temporary('ks-bench-', mode=0o711)


@contextlib.contextmanager
def both(plan, options=None):
    """Start both sides; stop everything at the end.

    :param plan: a :class:`bench.plan.Plan`
    :param options: {section: {option: value}} of both keystone.conf, in
        addition to those of the plan
    :returns: a list of two :class:`Side`, stock first
    """
    system.ensure('bench')
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(temporary_folder())
        progress.step(f'starting {plan.database}')
        make = databases.ALL[plan.database]
        database = stack.enter_context(make(folder, plan.delay > 0))
        delayed, port = database, None
        if plan.delay and plan.database != 'galera':
            proxies = delay_proxy.DelayProxies([[0, database.port, 1]])
            delayed = stack.enter_context(proxies)
            (port,) = delayed.addresses
        sides = []
        for name in ('stock', 'patched'):
            cache = stack.enter_context(memcached.Memcached(folder))
            keystone = keystones.keystone(
                folder / name, pin=plan.pin, stock=name == 'stock',
                database=database.url(name, port), cache=cache.url,
                processes=PROCESSES, threads=1,
                options=keystone_conf.merge(plan.options, options),
            )  # fmt: skip
            sides.append(Side(name, keystone, database, cache))
        started = [side.keystone for side in sides]
        stack.callback(keystones.stop_all, started)
        client.map_concurrently(deployment.Deployment.prepare, started)
        progress.step('starting Keystone: stock and patched')
        keystones.start_all(started)
        if plan.delay:
            # Later, because creating the schema takes a thousand statements.
            delayed.set_delay(plan.delay)
        yield sides


@contextlib.contextmanager
def second_nodes(sides):
    """Start a second node of each side, with the same keys and servers.

    :returns: {side: :class:`patchset.deployment.Deployment`}
    """
    with temporary_folder() as folder, contextlib.ExitStack() as stack:
        nodes = {}
        for side in sides:
            first = side.keystone
            node = nodes[side] = deployment.Deployment(
                first.tree,
                first.environment,
                folder / side.name,
                port=server.free_port(),
                database=first.database,
                cache=first.cache,
                processes=first.processes,
                threads=first.threads,
                # They contain the paths of the keys.
                options=first.options,
            )
            stack.callback(node.stop)
            node.prepare_like(first)
        progress.step('starting Keystone: stock and patched')
        keystones.start_all(nodes.values())
        yield nodes


@contextlib.contextmanager
def sides(plan, options=None):
    """The sides of a plan: :func:`both`, or one existing Keystone."""
    if plan.against:
        with cloud.account(plan.against) as account:
            yield [Side('cloud', account)]
    else:
        with both(plan, options) as started:
            yield started


@contextlib.contextmanager
def variants(plan, variant_options):
    """Start both sides once for each variant, all at the same time.

    :param variant_options: {name of a variant: options for :func:`both`}
    :returns: list of (name of a variant, :class:`Side`); an existing Keystone
        has only one variant
    """
    if plan.against:
        variant_options = {'as it is': None}
    with contextlib.ExitStack() as stack:
        yield [
            (name, side)
            for name, options in variant_options.items()
            for side in stack.enter_context(sides(plan, options))
        ]
