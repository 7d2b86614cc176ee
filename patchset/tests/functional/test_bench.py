# SPDX-License-Identifier: Apache-2.0

"""Tests of the measurements with what they need: servers, matplotlib."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import urllib.request

import fixtures
import testtools

from bench import background
from bench import client
from bench import middleware
from bench import plan
from bench import population
from bench import testbed
from bench import writes
from patchset import assemble
from patchset import child
from patchset import deployment
from patchset import environment
from patchset import errors
from patchset import paths
from patchset import pins
from patchset.services import ceph
from patchset.services import memcached
from patchset.services import server

_PATIENCE = 300  # seconds


class RadosGWTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        try:
            for name in ('ceph-mon', 'ceph-osd', 'radosgw'):
                child.find(name)
        except errors.NotInstalled as error:
            self.skipTest(str(error))

    def test_it_serves_and_nothing_is_left(self):
        with ceph.cluster() as monitor:
            self.assertEqual(1, monitor.query('osd', 'stat')['num_up_osds'])
            self.assertRaises(errors.Error, monitor.query, 'no', 'such')
            with ceph.RadosGW(monitor, {}) as one:
                with urllib.request.urlopen(one.url) as answer:
                    self.assertIn(b'ListAllMyBucketsResult', answer.read())
            pid = monitor.pid
        self.assertFalse(monitor.folder.exists() or one.folder.exists())
        self.assertFalse(pathlib.Path(f'/proc/{pid}').exists())


class SecondNodesTestCase(testtools.TestCase):
    def test_nodes_share_all_but_their_processes(self):
        chosen = plan.Plan(pin=pins.load(pins.newest()), scale='small')
        with testbed.both(chosen) as sides:
            places = [self.endpoints(side.keystone) for side in sides]
            with testbed.second_nodes(sides) as nodes:
                for side in sides:
                    node = nodes[side]
                    self.assertNotEqual(side.keystone.port, node.port)
                    token = client.token(node)
                    client.token_data(side.keystone, token)
                    client.revoke(side.keystone, token, token)
                    self.assertRaises(
                        errors.Error, client.token_data, node, token
                    )
                again = [self.endpoints(side.keystone) for side in sides]
        self.assertEqual(places, again)

    def endpoints(self, keystone):
        token = client.token(keystone)
        found = client.find(keystone, token, '/endpoints', {})
        return sorted((one['id'], one['url']) for one in found)


class EndTestCase(testtools.TestCase):
    def test_ctrl_c_leaves_nothing(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        # The database's own user has to reach it, and writes there as well.
        temporary = folder / 'tmp'
        temporary.mkdir()
        folder.chmod(0o755)
        temporary.chmod(0o1777)
        with subprocess.Popen(
            [
                paths.ROOT / 'ks', 'bench', 'revocations',
                '--out', folder / 'out',
            ],
            env={**os.environ, 'TMPDIR': str(temporary)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            # A shell that runs this in the background ignores Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as program:  # fmt: skip
            said = []
            for line in program.stderr:
                said.append(line)
                if 'events through the API' in line:
                    break
            started = descendants(program.pid)
            # MariaDB, and of each side the cache and a server with workers.
            self.assertGreaterEqual(len(started), 7, ''.join(said))
            program.send_signal(signal.SIGINT)
            program.communicate(timeout=_PATIENCE)
        self.assertEqual(130, program.returncode)
        deadline = time.monotonic() + _PATIENCE
        while any(pathlib.Path(f'/proc/{pid}').exists() for pid in started):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.assertEqual([], os.listdir(temporary))
        self.assertEqual([], os.listdir(folder / 'out'))


class AgainstTestCase(testtools.TestCase):
    """An external Keystone with its SQLite database."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        pin = pins.load(pins.newest())
        cls.keystone = cls.enterClassContext(
            deployment.Deployment(
                assemble.ensure(pin),
                environment.Environment(pin.release, 'run').ensure(),
                pathlib.Path(folder.name) / 'state',
                port=server.free_port(),
                options={'identity': {'password_hash_rounds': 4}},
            )
        )

    def start(self, *words):
        self.folder = self.useFixture(fixtures.TempDir()).path
        return subprocess.Popen(
            [
                paths.ROOT / 'ks', 'bench', *words, '--yes',
                '--against', self.keystone.url, '--out', self.folder,
            ],
            env={**os.environ, **self.keystone.credentials},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A shell that runs this in the background ignores Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip

    def test_rounds_of_writes_leave_nothing(self):
        (user,) = population.accounts(self.keystone, 1)
        before = self.counted()
        for name, make in {**writes.AT_RATE, **writes.IN_LOOP}.items():
            write = make(self.keystone, user)
            with background.writes(write, 0.1) as written:
                self.assertEqual({}, written)
            self.assertGreater(written['done'], 0, name)
        self.assertEqual(before, self.counted())
        client.token(user)  # with the password of before

    def counted(self):
        """How many users, projects and credentials there are."""
        token = client.token(self.keystone)
        return [
            len(client.find(self.keystone, token, path, {}))
            for path in ('/users', '/projects', '/credentials')
        ]

    def test_service_behind_the_middleware(self):
        (account,) = population.accounts(self.keystone, 1, 'service')
        (user,) = population.accounts(self.keystone, 1)
        with (
            memcached.Memcached() as cache,
            middleware.Service(self.keystone, account, cache, -1) as service,
        ):
            token = client.token(user)
            self.assertEqual(200, service.status(token))
            self.assertEqual(401, service.status('x'))
            self.assertLess(service.rejection_delay(token), _PATIENCE)
            self.assertEqual(401, service.status(token))

    def made(self):
        """Names of what the command has made and not removed."""
        token = client.token(self.keystone)
        return [
            one['name']
            for path in ('/users', '/projects')
            for one in client.find(self.keystone, token, path, {})
            if one['name'].startswith('ks-bench-')
        ]

    def test_nothing_but_tokens_and_events_is_left(self):
        with self.start('revocations') as program:
            said, errors = program.communicate(timeout=_PATIENCE)
        self.assertEqual(0, program.returncode, errors)
        self.assertEqual([], self.made())
        self.assertIn('events for each of 1,000 tokens', said)
        path = pathlib.Path(self.folder) / 'revocations-against-small.json'
        text = path.read_text()
        self.assertNotIn(self.keystone.password, said + errors + text)
        points = json.loads(text)['points']
        self.assertEqual([0, 100, 1000], [one['events'] for one in points])
        for point in points:
            self.assertGreater(point['cloud']['rate'], 1)
        token = client.token(self.keystone)
        self.assertLess(1000, count_events(self.keystone, token))
        page = pathlib.Path(self.folder) / 'report.html'
        self.assertIn('revocations', page.read_text())

    def test_ctrl_c_removes_what_was_made(self):
        with self.start('tokens') as program:
            for line in program.stderr:
                if 'what create, clients 1' in line:
                    break
            self.assertEqual(2, len(self.made()))
            program.send_signal(signal.SIGINT)
            program.communicate(timeout=_PATIENCE)
        self.assertEqual(130, program.returncode)
        self.assertEqual([], self.made())
        self.assertEqual([], os.listdir(self.folder))


def count_events(keystone, token):
    """How many revocation events a Keystone tells of."""
    return len(client.find(keystone, token, '/OS-REVOKE/events', {}))


def descendants(pid):
    """Ids of the processes below a process."""
    found = child.children(pid)
    return found + [below for one in found for below in descendants(one)]
