# SPDX-License-Identifier: Apache-2.0

"""Run multiple Keystone nodes behind HAProxy, on 127.0.0.1.

  up      start a cluster and run it until Ctrl-C, SIGTERM or down
  status  show the nodes and their state in HAProxy
  drain   send no new requests to a node: ./ks cluster drain node2
  ready   send requests to the node again
  down    stop the running cluster

The nodes, HAProxy, the database and the memcached servers are local processes,
started from the distribution's packages. Their data is in a temporary folder
that is removed at the end. --rtt is the round trip time between regions:
requests to another region go through TCP proxies that add a delay. A Galera
cluster with multiple regions uses network namespaces, which requires root.
"""

import dataclasses
import os
import shlex
import signal
import time

from patchset import arguments
from patchset import child
from patchset import errors
from patchset import openrc
from patchset import paths
from patchset import pins
from patchset import ports
from patchset import progress
from patchset import state
from patchset import stopping
from patchset import system
from patchset.cluster import cluster
from patchset.cluster import layout
from patchset.services import haproxy

ACTIONS = ('up', 'status', 'drain', 'ready', 'down')
PATIENCE = 120  # seconds for a cluster to stop


def add_arguments(parser):
    parser.add_argument('action', choices=ACTIONS)
    parser.add_argument(
        'node', nargs='?', help='drain, ready: name of the node, such as node2'
    )
    kind = parser.add_mutually_exclusive_group()
    arguments.add_stock(kind)
    kind.add_argument(
        '--mixed',
        action='store_true',
        help='alternate patched and stock nodes',
    )
    _add_numbers(parser)
    arguments.add_port(parser, 'TCP port of HAProxy')
    for name, choices in (
        ('database', layout.DATABASES),
        ('cache', layout.CACHES),
    ):
        parser.add_argument(
            f'--{name}',
            choices=choices,
            default=choices[0],
            help='%(choices)s (default: %(default)s)',
        )


def _add_numbers(parser):
    for name, metavar, default, what in (
        ('nodes', 'N', 3, 'number of nodes'),
        ('regions', 'R', 1, 'number of regions; nodes are assigned in turn'),
        ('rtt', 'MS', 0, 'round trip time between regions in milliseconds'),
        ('processes', 'N', 2, 'server processes of each node'),
    ):
        parser.add_argument(
            f'--{name}',
            type=int,
            metavar=metavar,
            default=default,
            help=f'{what} (default: %(default)s)',
        )


def run(args):
    """Run the action."""
    if (args.node is not None) != (args.action in ('drain', 'ready')):
        raise errors.UsageError(
            'drain and ready take a node, other actions do not'
        )
    if args.action == 'up':
        _up(args)
    elif args.action == 'status':
        progress.say('\n'.join(status(Record().read())))
    elif args.action == 'down':
        Record().down()
    else:
        known = Record().read()
        haproxy.set_state(known['runtime'], args.node, args.action)


def chosen(args):
    """The :class:`patchset.cluster.layout.Layout` for the arguments.

    :raises patchset.errors.UsageError: the arguments conflict
    """
    kind = 'mixed' if args.mixed else 'stock' if args.stock else 'patched'
    own = arguments.of_fields(layout.Layout, args)
    return layout.Layout(kind=kind, **own)


def _up(args):
    pin = pins.load(args.release)
    wanted = chosen(args)
    ports.check(args.port)
    system.ensure('cluster')
    stopping.in_order()
    with (
        Record() as one,
        cluster.Cluster(pin, wanted, port=args.port) as running,
        stopping.by_signal(),
    ):
        _tell(one.write(running), running)
        _wait(running)
    progress.step('stopped')


def _wait(running):
    """Report nodes that have stopped, until HAProxy stops.

    :raises patchset.errors.Error: HAProxy has stopped
    """
    gone = set()
    while running.balancer.is_running:
        for one in running.nodes:
            if not one.is_running and one.name not in gone:
                gone.add(one.name)
                progress.step(f'{one.name} has stopped; the others continue')
        time.sleep(0.5)
    raise errors.Error('HAProxy has stopped unexpectedly')


def _tell(known, running):
    """Print how to use the cluster."""
    last = known['nodes'][-1]
    client = shlex.quote(str(running.nodes[0].environment.bin / 'openstack'))
    lines = [
        '',
        *status(known),
        '',
        *openrc.exports(running.nodes[0].credentials),
        '',
        'In another terminal:',
        f'  . {known["openrc"]}',
        f'  {client} token issue',
        '  ./ks cluster status',
        f'  ./ks cluster drain {last["name"]}    # no new requests to it',
        f'  kill {last["pid"]}    # stops {last["name"]}',
        '  ./ks cluster down    # stops the cluster, as Ctrl-C does here',
    ]
    progress.say('\n'.join(lines))


class Record:
    """A file in a folder that is locked by the running cluster."""

    def __init__(self):
        self._state = state.State(paths.BUILD / 'cluster')

    def __enter__(self):
        """Lock the folder.

        :raises patchset.errors.Error: another cluster has locked it
        """
        self._state.claim()
        return self

    def __exit__(self, *_):
        self._state.note({})
        self._state.release()

    def write(self, cluster):
        """Write the record of a cluster.

        :param cluster: a running :class:`patchset.cluster.cluster.Cluster`
        """
        known = {
            'pid': os.getpid(),
            'url': cluster.url,
            'statistics': cluster.balancer.statistics,
            'runtime': str(cluster.balancer.runtime),
            'openrc': str(cluster.nodes[0].openrc),
            'layout': dataclasses.asdict(cluster.layout),
            'nodes': [
                {
                    'name': one.name,
                    'region': one.region + 1,
                    'kind': 'stock' if one.is_stock else 'patched',
                    'port': one.port,
                    'pid': one.pid,
                    'log': str(one.log),
                }
                for one in cluster.nodes
            ],
        }
        self._state.note(known)
        return known

    def read(self):
        """The contents of the record.

        :raises patchset.errors.Error: no cluster is running
        """
        known = self._state.record()
        if not known or not self._state.is_claimed():
            raise errors.Error(
                'no cluster is running; start one with ./ks cluster up'
            )
        return known

    def down(self):
        """Stop the running cluster, and wait until it has stopped.

        :raises patchset.errors.Error: no cluster is running, or it does not
            stop
        """
        os.kill(self.read()['pid'], signal.SIGTERM)
        child.wait_until(
            lambda: not self._state.is_claimed(),
            PATIENCE,
            f'the cluster did not stop within {PATIENCE} seconds',
        )


def status(known):
    """The nodes and their state in HAProxy: lines of text.

    :param known: what :meth:`Record.read` returned
    """
    states = haproxy.states(known['runtime'])
    layout = known['layout']
    yield f'Keystone listens on {known["url"]}'
    yield (
        f'{layout["regions"]} region(s), {layout["rtt"]} ms round trip '
        f'time between regions; database {layout["database"]}, cache '
        f'{layout["cache"]}'
    )
    yield ''
    for one in known['nodes']:
        yield (
            f'{one["name"]:7} {states.get(one["name"], "?"):6} region '
            f'{one["region"]}, {one["kind"]}, http://127.0.0.1:{one["port"]}, '
            f'process {one["pid"]}'
        )
    yield ''
    yield f'openrc:     {known["openrc"]}'
    yield f'statistics: {known["statistics"]}'
