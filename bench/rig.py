# SPDX-License-Identifier: Apache-2.0

"""Stock and patched Keystone at the same time, on servers of the same kind."""

import concurrent.futures
import contextlib
import pathlib
import tempfile

from bench import cloud
from bench import databases
from patchset import deployment
from patchset import environment
from patchset import keystone_conf
from patchset import progress
from patchset import system
from patchset import trees
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

    def forget(self):
        """Empty the cache, by which Keystone learns of a changed table."""
        self.cache.flush()

    def forget_events(self):
        """Remove the revocation events, and empty the cache."""
        # Row ids go on: a table that was truncated would give them again.
        self.query('DELETE FROM revocation_event')
        self.forget()


def turn(sides, number):
    """The sides in the order of a round: each comes first as often."""
    return sides if number % 2 == 0 else sides[::-1]


def slices(sides, number, count):
    """The sides of a round in ``count`` slices, in alternating order."""
    for slice_number in range(count):
        yield from turn(sides, number + slice_number)


def at_once(function, things):
    """Call a function with each of two things, at the same time.

    For what is not measured: each has a processor of its own. A process that
    the function starts has to end with it, as its thread does.
    """
    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(function, things))


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
    venv = environment.Environment(plan.pin.release, 'run').ensure()
    settings = keystone_conf.merge(
        {'identity': {'password_hash_rounds': 4}, **plan.options}, options
    )
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix='ks-bench-')
            )
        )
        # All in one place: what a server leaves when it is interrupted while
        # it starts goes with it. Its user has to get through.
        folder.chmod(0o711)
        progress.step(f'starting {sql.name}')
        far = None
        database = stack.enter_context(sql.server(folder, plan.delay > 0))
        if plan.delay:
            far = stack.enter_context(sql.distance(database))
        kept = plan.kept
        keystones, caches = {}, {}
        for name in ('stock', 'patched'):
            caches[name] = stack.enter_context(memcached.Memcached(folder))
            url = database.url(name)
            keystones[name] = deployment.Deployment(
                trees.get(plan.pin, stock=name == 'stock'),
                venv,
                folder / name,
                port=kept.port(name) if kept else server.free_port(),
                database=far.through(url) if far else url,
                cache=caches[name].url,
                processes=PROCESSES,
                threads=1,
                options=settings,
            )
        stack.callback(at_once, lambda one: one.stop(), keystones.values())
        at_once(
            lambda name: _prepare(name, keystones[name], database, kept),
            keystones,
        )
        progress.step(f'starting Keystone: {" and ".join(keystones)}')
        for keystone in keystones.values():
            keystone.launch()
        for keystone in keystones.values():
            keystone.get_ready()
        sides = [
            Side(name, keystone, database, caches[name], sql)
            for name, keystone in keystones.items()
        ]
        if far:
            # Not before: the schema is made with a thousand statements.
            far.lengthen(plan.delay)
        yield sides


def restart(sides, processes: int):
    """Restart both Keystones, with ``processes`` processes each."""
    for side in sides:
        side.keystone.processes = processes
        side.keystone.restart()


@contextlib.contextmanager
def second_nodes(sides):
    """Start another node of each side, with its keys, database and cache.

    :returns: {side: :class:`patchset.deployment.Deployment`}
    """
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(
            tempfile.TemporaryDirectory(prefix='ks-bench-')
        )
        nodes = {}
        for side in sides:
            first = side.keystone
            nodes[side.name] = deployment.Deployment(
                first.tree,
                first.environment,
                pathlib.Path(folder) / side.name,
                port=server.free_port(),
                database=first.database,
                cache=first.cache,
                password=first.password,
                processes=first.processes,
                threads=first.threads,
                # They name the first one's keys.
                options=first.options,
            )
        stack.callback(at_once, lambda one: one.stop(), nodes.values())
        at_once(lambda one: one.prepare(), nodes.values())
        for side in sides:
            # Each bootstrap puts its own address into the catalog.
            side.query(f"UPDATE endpoint SET url = '{side.keystone.url}'")
            side.forget()
        for node in nodes.values():
            node.launch()
        for node in nodes.values():
            node.get_ready()
        yield nodes


def _prepare(name, keystone, database, kept):
    if kept:
        kept.fill(name, database, keystone.state.path)
    keystone.prepare()
    if kept:
        kept.keep(name, database, keystone.state.path)


def sides(plan):
    """What the plan measures: :func:`both`, or one existing Keystone."""
    return cloud.account(plan.against) if plan.against else both(plan)


@contextlib.contextmanager
def each(plan, variants):
    """Start both sides once for each variant, all at the same time.

    :param variants: {name: what :func:`both` takes as options}
    :returns: {name: what :func:`both` gives}; an existing Keystone is as it
        is
    """
    with contextlib.ExitStack() as stack:
        if plan.against:
            account = cloud.account(plan.against)
            yield {'as it is': stack.enter_context(account)}
            return
        yield {
            name: stack.enter_context(both(plan, options))
            for name, options in variants.items()
        }
