# SPDX-License-Identifier: Apache-2.0

"""The record of the running cluster, for use from other terminals."""

import dataclasses
import json
import os
import signal

from patchset import errors
from patchset import paths
from patchset import state
from patchset import waiting
from patchset.services import haproxy

PATIENCE = 120  # seconds for a cluster to stop
_NAME = 'cluster.json'


class Record:
    """A file in a folder that is locked by the running cluster.

    :param folder: path; None is the folder of ``./ks cluster``
    """

    def __init__(self, folder=None):
        self._state = state.State(folder or paths.BUILD / 'cluster')

    def __enter__(self):
        """Lock the folder.

        :raises patchset.errors.Error: another cluster has locked it
        """
        self._state.claim()
        return self

    def __exit__(self, *_):
        (self._state.path / _NAME).unlink(missing_ok=True)
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
        self._state.write(_NAME, json.dumps(known, indent=1) + '\n')
        return known

    def read(self):
        """The contents of the record.

        :raises patchset.errors.Error: no cluster is running
        """
        text = self._state.read(_NAME)
        known = json.loads(text) if text else None
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
        waiting.until(
            lambda: not self._state.is_claimed(),
            PATIENCE,
            lambda: errors.Error(
                f'the cluster did not stop within {PATIENCE} seconds'
            ),
        )


def text(known):
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
