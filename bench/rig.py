# SPDX-License-Identifier: Apache-2.0

"""Stock and patched Keystone at the same time, on servers of the same kind."""

import contextlib
import pathlib
import tempfile

from bench import client
from bench import cloud
from bench import databases
from patchset import assemble
from patchset import deployment
from patchset import environment
from patchset import keystone_conf
from patchset import progress
from patchset import system
from patchset.services import memcached
from patchset.services import server

# More threads would not do: stock then answers with what another request has
# left on its thread, such as a role that is gone.
PROCESSES = 2


class Side:
    """One of the two: a Keystone, its database and its cache.

    :param name: ``stock`` or ``patched``
    :param keystone: a :class:`patchset.deployment.Deployment`, running
    :param database: the running server of its database
    :param cache: a :class:`patchset.services.memcached.Memcached`
    :param sql: one of :data:`bench.databases.ALL`, the server's SQL
    """

    def __init__(self, name, keystone, database, cache, sql):
        self.name = name
        self.keystone = keystone
        self.database = database
        self.cache = cache
        self.sql = sql

    def query(self, statement):
        """Run SQL on this side's database."""
        return self.database.query(statement, self.name)

    @property
    def url(self):
        """Address that validates a token."""
        return f'{self.keystone.url}/auth/tokens'

    @property
    def processes(self):
        """Number of server processes."""
        return self.keystone.processes

    def forget(self):
        """Empty the cache, by which Keystone learns of a changed table."""
        self.cache.flush()

    def forget_events(self):
        """Remove the revocation events, and empty the cache."""
        # Row ids go on: a table that was truncated would give them again.
        self.query('DELETE FROM revocation_event')
        self.forget()


def rounds(sides, count, loads):
    """Each load in each round, by one side after the other.

    Each measurement follows one of the other side. In another order for each
    round, one side would begin a round right after the end of its last one.

    :param count: number of rounds
    :returns: iterator of (load, side)
    """
    for _ in range(count):
        for one in loads:
            for side in sides:
                yield one, side


def for_each_side(function, sides):
    """Call a function with both sides concurrently, for example to set up.

    :returns: {side: result of the function}
    """
    results = client.map_concurrently(function, sides)
    return dict(zip(sides, results, strict=True))


@contextlib.contextmanager
def folder():
    """A temporary folder for servers, some of which have users of their own.

    What a server leaves when it is interrupted while it starts goes with it.
    """
    with tempfile.TemporaryDirectory(prefix='ks-bench-') as name:
        path = pathlib.Path(name)
        path.chmod(0o711)
        yield path


@contextlib.contextmanager
def both(plan, options=None):
    """Start both sides; stop everything at the end.

    :param plan: a :class:`bench.plan.Plan`
    :param options: {section: {option: value}} of both keystone.conf, beside
        those of the plan
    :returns: a list of two :class:`Side`, stock first
    """
    system.ensure('bench')
    sql = databases.ALL[plan.database]
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(folder())
        progress.step(f'starting {sql.name}')
        control = None
        database = stack.enter_context(sql.server(place, plan.delay > 0))
        if plan.delay:
            control = stack.enter_context(databases.delay_control(database))
        sides = []
        for name in ('stock', 'patched'):
            cache = stack.enter_context(memcached.Memcached(place))
            url = database.url(name)
            url = control.proxied(url) if control else url
            keystone = _keystone(plan, name, place, url, cache.url, options)
            sides.append(Side(name, keystone, database, cache, sql))
        keystones = [side.keystone for side in sides]
        stack.callback(
            client.map_concurrently, lambda one: one.stop(), keystones
        )
        client.map_concurrently(lambda one: one.prepare(), keystones)
        _start(keystones)
        if control:
            # Later, because creating the schema takes a thousand statements.
            control.set_delay(plan.delay)
        yield sides


def _keystone(plan, name, place, database, cache, options):
    settings = keystone_conf.merge(
        {'identity': {'password_hash_rounds': 4}, **plan.options}, options
    )
    return deployment.Deployment(
        assemble.ensure(plan.pin, stock=name == 'stock'),
        environment.Environment(plan.pin.release, 'run').ensure(),
        place / name,
        port=server.free_port(),
        database=database,
        cache=cache,
        processes=PROCESSES,
        threads=1,
        options=settings,
    )


def _start(keystones):
    progress.step('starting Keystone: stock and patched')
    for keystone in keystones:
        keystone.launch()
    for keystone in keystones:
        keystone.get_ready()


@contextlib.contextmanager
def second_nodes(sides):
    """Start another node of each side, with its keys, database and cache.

    :returns: {side: :class:`patchset.deployment.Deployment`}
    """
    with folder() as place, contextlib.ExitStack() as stack:
        nodes = {}
        for side in sides:
            first = side.keystone
            node = nodes[side] = deployment.Deployment(
                first.tree,
                first.environment,
                place / side.name,
                port=server.free_port(),
                database=first.database,
                cache=first.cache,
                processes=first.processes,
                threads=first.threads,
                # They name the first one's keys.
                options=first.options,
            )
            stack.callback(node.stop)
            node.prepare_like(first)
        _start(nodes.values())
        yield nodes


def sides(plan, options=None):
    """What the plan measures: :func:`both`, or one existing Keystone."""
    if plan.against:
        return cloud.account(plan.against)
    return both(plan, options)


@contextlib.contextmanager
def each(plan, variants):
    """Start both sides once for each variant, all at the same time.

    :param variants: {name: what :func:`both` takes as options}
    :returns: {name: what :func:`both` gives}; an existing Keystone is as it
        is
    """
    if plan.against:
        variants = {'as it is': None}
    with contextlib.ExitStack() as stack:
        yield {
            name: stack.enter_context(sides(plan, options))
            for name, options in variants.items()
        }
