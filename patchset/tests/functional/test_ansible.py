# SPDX-License-Identifier: Apache-2.0

"""The playbook of contrib/ansible, on a cluster under load."""

import contextlib
import json
import pathlib
import subprocess
import sys
import time

import fixtures
import testtools

from patchset import assemble
from patchset import child
from patchset import paths
from patchset import pins
from patchset.cluster import cluster
from patchset.cluster import layout
from patchset.cluster import load
from patchset.services import haproxy

PLAYBOOK = paths.ROOT / 'contrib' / 'ansible' / 'rolling-upgrade.yaml'
SYNC_INTERVAL = 10  # seconds, by default
# Replaces the version, as pip does, or prints it.
_PIP = """\
#!/bin/sh -e
cd {folder}
case $1 in
list) sed 's/^/keystone==/' version ;;
install)
    echo "$*" >>log
    echo "$*" | sed -E 's/.*keystone(===|-)([^-]*).*/\\2/' >version
    rm -rf lib/python3/site-packages/*
    mkdir -p "lib/python3/site-packages/keystone-$(cat version).dist-info"
esac
"""
# Waits until the test has restarted the node.
_RESTART = 'touch {0}/restart; while [ -e {0}/restart ]; do sleep 0.1; done'


class PlaybookTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.pin = pins.load(pins.newest())
        chosen = layout.Layout(nodes=2, kind='stock')
        self.cluster = cluster.Cluster(self.pin, chosen)
        self.useFixture(fixtures.EnvironmentVariable('ANSIBLE_NOCOLOR', '1'))
        self.enter(self.cluster)
        for one in self.cluster.nodes:
            self.pretend_installed(one)

    def enter(self, manager):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        return stack.enter_context(manager)

    def pretend_installed(self, one):
        """Give a node a folder like a virtual environment."""
        folder = self.folder / one.name
        (folder / 'bin').mkdir(parents=True)
        (folder / 'version').write_text(f'{self.pin.version}\n')
        pip = folder / 'bin' / 'pip'
        pip.write_text(_PIP.format(folder=folder))
        pip.chmod(0o755)
        self.note_processes(one)

    def note_processes(self, one):
        pids = [one.pid, *child.children(one.pid)]
        path = self.folder / one.name / 'pids'
        path.write_text('\n'.join(map(str, pids)))

    def version(self, name):
        return (self.folder / name / 'version').read_text().strip()

    def inventory(self, **more):
        """Path of the inventory.

        :param more: further variables of each node: {name: dict}
        """
        local = {
            'ansible_connection': 'local',
            'ansible_python_interpreter': sys.executable,
            'ansible_become': False,
        }
        hosts = {}
        for one in self.cluster.nodes:
            folder = self.folder / one.name
            hosts[one.name] = {
                **local,
                'keystone_venv': str(folder),
                'keystone_restart': f"sh -c '{_RESTART.format(folder)}'",
                'keystone_pids': f'cat {folder}/pids',
                'keystone_url': f'http://127.0.0.1:{one.port}/v3',
                'haproxy_socket': str(self.cluster.balancer.runtime),
                'keystone_seconds': 5,
                **more.get(one.name, {}),
            }
        path = self.folder / 'inventory.json'
        groups = {'keystone': hosts, 'haproxy': {'balancer': local}}
        path.write_text(
            json.dumps({name: {'hosts': of} for name, of in groups.items()})
        )
        return path

    def play(self, **more):
        """Run the playbook under load; its exit code and what it printed."""
        wheel = f'/var/tmp/keystone-{self.pin.local_version}-py3-none-any.whl'
        log = self.folder / 'ansible.log'
        with load.Load(self.cluster, SYNC_INTERVAL) as clients:
            began = time.monotonic()
            with open(log, 'w') as output:
                process = subprocess.Popen(
                    [
                        'ansible-playbook', '-i', self.inventory(**more),
                        '-e', f'package={wheel}', PLAYBOOK,
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                )  # fmt: skip
            while process.poll() is None:
                self.restart_nodes()
                time.sleep(0.1)
            summary = clients.summary(began, time.monotonic())
        self.assertEqual(0, summary['failed'] + summary['refused'], summary)
        self.assertLess(0, summary['requests'])
        self.assertEqual([], clients.accepted)
        return process.returncode, log.read_text()

    def restart_nodes(self):
        """Do what a service manager does.

        The kernel ends servers with the thread that has started them, which
        is why this thread does it.
        """
        for one in self.cluster.nodes:
            asked = self.folder / one.name / 'restart'
            if asked.exists():
                one.is_stock = self.version(one.name) == self.pin.version
                one.tree = assemble.ensure(self.pin, one.is_stock)
                one.restart()
                self.note_processes(one)
                asked.unlink()

    def assert_versions(self, *versions):
        names = self.cluster.layout.names
        self.assertEqual([*versions], [self.version(name) for name in names])
        self.assertEqual(
            dict.fromkeys(names, 'UP'),
            haproxy.states(self.cluster.balancer.runtime),
        )

    def test_all_nodes_are_replaced(self):
        code, text = self.play()
        self.assertEqual(0, code, text)
        self.assert_versions(*[self.pin.local_version] * 2)

    def test_a_process_that_was_not_restarted(self):
        # Such as one that runs apart from the service.
        sleeper = subprocess.Popen(['sleep', '600'])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        time.sleep(2)
        code, text = self.play(node1={'keystone_pids': f'echo {sleeper.pid}'})
        self.assertNotEqual(0, code, text)
        self.assertIn('node1 has its previous version again', text)
        self.assert_versions(*[self.pin.version] * 2)
        log = (self.folder / 'node1' / 'log').read_text()
        self.assertIn(f'keystone==={self.pin.version}', log)
        self.assertFalse((self.folder / 'node2' / 'log').exists())
