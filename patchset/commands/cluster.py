# SPDX-License-Identifier: Apache-2.0

"""Run many Keystones behind HAProxy, on 127.0.0.1.

  up      start a cluster and run it until Ctrl-C, SIGTERM or down
  status  tell what runs, and what HAProxy thinks of each node
  drain   let a node have no new requests: ./ks cluster drain node2
  ready   let it have them again
  down    stop the cluster that up has started

The nodes, HAProxy, the database and the memcached servers are processes of
this machine, from the distribution's packages; their data is in a temporary
folder and gone at the end. Regions are as far from each other as --rtt says:
what one node asks of another region goes through TCP proxies that hand
everything on later. The servers of a Galera cluster with several regions have
a network namespace each, which needs root.
"""

import shlex
import sys
import time

from patchset import arguments
from patchset import errors
from patchset import openrc
from patchset import ports
from patchset import progress
from patchset import stopping
from patchset import system
from patchset.cluster import cluster
from patchset.cluster import layout
from patchset.cluster import record
from patchset.services import haproxy

HELP = 'run many Keystones behind HAProxy on 127.0.0.1'
ACTIONS = ('up', 'status', 'drain', 'ready', 'down')


def add_arguments(parser):
    """Add this command's arguments."""
    arguments.add_release(parser)
    parser.add_argument('action', choices=ACTIONS)
    parser.add_argument(
        'node', nargs='?', help='drain, ready: which, such as node2'
    )
    kind = parser.add_mutually_exclusive_group()
    arguments.add_stock(kind)
    kind.add_argument(
        '--mixed', action='store_true', help='patched and stock nodes in turn'
    )
    _add_numbers(parser)
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
        ('nodes', 'N', 3, 'number of Keystones'),
        ('regions', 'R', 1, 'number of regions, to which nodes are dealt out'),
        ('rtt', 'MS', 0, 'milliseconds from one region to another and back'),
        ('processes', 'N', 2, 'server processes of each node'),
        ('port', 'PORT', 5000, 'TCP port of HAProxy'),
    ):
        parser.add_argument(
            f'--{name}',
            type=int,
            metavar=metavar,
            default=default,
            help=f'{what} (default: %(default)s)',
        )


def run(args):
    """Do what is asked."""
    if (args.node is not None) != (args.action in ('drain', 'ready')):
        raise errors.UsageError('drain and ready take a node, others do not')
    if args.action == 'up':
        return _up(args)
    one = record.Record()
    known = one.read()
    if args.action == 'status':
        progress.say('\n'.join(record.text(known)))
    elif args.action == 'down':
        one.down()
    else:
        haproxy.set_state(known['runtime'], args.node, args.action)
    return 0


def chosen(args):
    """The :class:`patchset.cluster.layout.Layout` of the arguments.

    :raises patchset.errors.UsageError: they do not fit together
    """
    return layout.Layout(
        nodes=args.nodes,
        regions=args.regions,
        rtt=args.rtt,
        database=args.database,
        cache=args.cache,
        kind='mixed' if args.mixed else 'stock' if args.stock else 'patched',
        processes=args.processes,
    )


def _up(args):
    pin = arguments.pin(args)
    wanted = chosen(args)
    ports.check(args.port)
    system.ensure('cluster')
    stopping.in_order()
    serving = False
    try:
        with (
            record.Record() as one,
            cluster.Cluster(pin, wanted, args.port) as running,
        ):
            _tell(one.write(running), running)
            serving = True
            _wait(running)
    except (KeyboardInterrupt, SystemExit):
        if not serving:
            raise
        progress.step('stopped')
    return 0


def _wait(running):
    """Tell of nodes that end, for ever.

    :raises patchset.errors.Error: HAProxy has ended
    """
    gone = set()
    while running.balancer.is_running:
        for one in running.nodes:
            if not one.is_running and one.name not in gone:
                gone.add(one.name)
                progress.step(f'{one.name} has ended; the others go on')
        time.sleep(0.5)
    raise errors.Error('HAProxy ended by itself')


def _tell(known, running):
    """Print what an operator needs."""
    last = known['nodes'][-1]
    client = shlex.quote(str(running.nodes[0].environment.bin / 'openstack'))
    lines = [
        '',
        *record.text(known),
        '',
        *openrc.exports(running.nodes[0].credentials),
        '',
        'In another terminal:',
        f'  . {known["openrc"]}',
        f'  {client} token issue',
        '  ./ks cluster status',
        f'  ./ks cluster drain {last["name"]}    # no new requests for it',
        f'  kill {last["pid"]}    # stops {last["name"]}',
        '  ./ks cluster down    # stops all, as Ctrl-C does here',
    ]
    progress.say('\n'.join(lines))
    sys.stdout.flush()
