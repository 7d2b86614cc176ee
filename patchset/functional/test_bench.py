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
from xml.etree import ElementTree

import fixtures
import testtools

from bench import client
from bench import databases
from bench import events
from bench import far_galera
from bench import middleware
from bench import plan
from bench import population
from bench import rig
from bench import rounds
from bench import writing
from patchset import child
from patchset import deployment
from patchset import environment
from patchset import errors
from patchset import paths
from patchset import pins
from patchset import trees
from patchset.services import ceph
from patchset.services import memcached
from patchset.services import server

_COLUMNS = """
    domain_id VARCHAR(64), project_id VARCHAR(64), user_id VARCHAR(64),
    role_id VARCHAR(64), trust_id VARCHAR(64), consumer_id VARCHAR(64),
    access_token_id VARCHAR(64), audit_id VARCHAR(32),
    audit_chain_id VARCHAR(32), expires_at TIMESTAMP NULL,
    issued_before TIMESTAMP NULL, revoked_at TIMESTAMP NULL
"""
_PATIENCE = 300  # seconds


class Side:
    """The part of a side that the events need."""

    def __init__(self, database, sql):
        self._database = database
        self.sql = sql

    def query(self, statement):
        return self._database.query(statement, 'side')


class _Events:
    """Events of the table, for each database."""

    key = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sql = databases.ALL[cls.name]
        cls.database = cls.enterClassContext(cls.sql.server(None))
        cls.database.url('side')

    def setUp(self):
        super().setUp()
        self.side = Side(self.database, self.sql)
        for name in ('revocation_event', 'kept_audit'):
            self.side.query(f'DROP TABLE IF EXISTS {name}')
        self.side.query(
            f'CREATE TABLE revocation_event (id {self.key}, {_COLUMNS})'
        )

    def ids(self):
        rows = self.side.query('SELECT id FROM revocation_event ORDER BY id')
        return [int(number) for (number,) in rows]

    def test_each_number_names_something_else(self):
        events.add(self.side, 'chain', 1, 10, 100)
        events.add(self.side, 'chain', 11, 100, 100)
        ((rows, names),) = self.side.query(
            'SELECT COUNT(*), COUNT(DISTINCT audit_chain_id) '
            'FROM revocation_event WHERE audit_id IS NULL'
        )
        self.assertEqual(('100', '100'), (rows, names))

    def test_live_events_are_later_the_later_they_are_added(self):
        events.add(self.side, 'audit', 1, 50, 100)
        ((before,),) = self.side.query(
            'SELECT MAX(revoked_at) FROM revocation_event'
        )
        events.add(self.side, 'audit', 51, 100, 100)
        ((early,),) = self.side.query(
            'SELECT COUNT(*) FROM revocation_event '
            f"WHERE id > 50 AND revoked_at < '{before}'"
        )
        self.assertEqual('0', early)
        ((dead,),) = self.side.query(
            'SELECT COUNT(*) FROM revocation_event, (SELECT 0 AS seq) AS one '
            f'WHERE revoked_at < {self.sql.moment(-5400)} '
            f'OR revoked_at > {self.sql.moment(0)} '
            f'OR issued_before < {self.sql.moment(0)}'
        )
        self.assertEqual('0', dead)

    def test_those_that_were_kept_come_first(self):
        self.side.query(
            'INSERT INTO revocation_event (audit_id, audit_chain_id) VALUES '
            "('b', NULL), (NULL, 'x'), ('a', NULL)"
        )
        self.assertEqual(2, events.keep(self.side, 'audit'))
        for _ in range(2):
            events.empty(self.side)
            events.add(self.side, 'audit', 1, 1, 4, 2)
            events.add(self.side, 'audit', 2, 4, 4, 2)
            rows = self.side.query(
                'SELECT audit_id FROM revocation_event WHERE issued_before '
                'IS NOT NULL ORDER BY revoked_at'
            )
            names = [name for (name,) in rows]
            self.assertEqual((4, ['b', 'a']), (len(names), names[:2]))
            self.assertEqual(4, len(set(names)))

    def test_expired_ones_are_old(self):
        events.add_expired(self.side, 1000)
        ((young,),) = self.side.query(
            'SELECT COUNT(*) FROM revocation_event, (SELECT 0 AS seq) AS one '
            f'WHERE revoked_at > {self.sql.moment(-29 * 24 * 60 * 60)}'
        )
        self.assertEqual('0', young)
        self.assertEqual(1000, events.count(self.side))

    def test_ids_are_not_given_twice(self):
        events.empty(self.side)
        events.add_expired(self.side, 5)
        last = self.ids()[-1]
        for _ in range(2):
            events.empty(self.side)
            self.assertEqual(0, events.count(self.side))
        events.add_expired(self.side, 1)
        self.assertGreater(self.ids()[0], last)


class MariaDBEventsTestCase(_Events, testtools.TestCase):
    name = 'mariadb'
    key = 'INTEGER PRIMARY KEY AUTO_INCREMENT'


class PostgreSQLEventsTestCase(_Events, testtools.TestCase):
    name = 'postgresql'
    key = 'SERIAL PRIMARY KEY'


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


class DistanceTestCase(testtools.TestCase):
    def test_commits_cross_the_distance_between_the_nodes(self):
        if os.geteuid() != 0:
            self.skipTest('only root can make network namespaces')
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        folder.chmod(0o711)
        with far_galera.Cluster(3, folder) as cluster:
            cluster.url('side')
            cluster.query('CREATE TABLE t (id INT PRIMARY KEY)', 'side')
            pids = [node.pid for node in cluster.nodes]
            near = self.insert(cluster, 1)
            cluster.lengthen(400)
            far = self.insert(cluster, 2)
            self.assertGreater(far, 0.4)
            self.assertLess(near, far)
            # A read needs no other node.
            start = time.monotonic()
            self.assertEqual(
                [['2']], cluster.query('SELECT COUNT(*) FROM t', 'side')
            )
            self.assertLess(time.monotonic() - start, 0.4)
            deadline = time.monotonic() + _PATIENCE
            for node in cluster.nodes:
                while node.query('SELECT COUNT(*) FROM t', 'side') != [['2']]:
                    self.assertLess(time.monotonic(), deadline)
        for pid in pids:
            self.assertFalse(pathlib.Path(f'/proc/{pid}').exists())

    def insert(self, cluster, number):
        """Seconds that it takes to insert a row."""
        start = time.monotonic()
        cluster.query(f'INSERT INTO t VALUES ({number})', 'side')
        return time.monotonic() - start


class _Statements:
    """What a database counts, for each."""

    name = None

    def test_reads_and_writes_are_told_apart(self):
        sql = databases.ALL[self.name]
        with sql.server(None) as server:
            server.url('side')
            server.query('CREATE TABLE t (id INTEGER)', 'side')
            before = sql.statements(server)
            for statement in (
                'INSERT INTO t VALUES (1)',
                'UPDATE t SET id = 2',
                'DELETE FROM t',
                'SELECT COUNT(*) FROM t',
            ):
                server.query(statement, 'side')
            after = sql.statements(server)
        grown = {name: after[name] - before[name] for name in after}
        self.assertEqual(3, grown['writes'])
        # PostgreSQL counts the question itself.
        self.assertIn(grown['reads'], (1, 2))


class MariaDBStatementsTestCase(_Statements, testtools.TestCase):
    name = 'mariadb'


class PostgreSQLStatementsTestCase(_Statements, testtools.TestCase):
    name = 'postgresql'


class SecondNodesTestCase(testtools.TestCase):
    def test_nodes_share_all_but_their_processes(self):
        chosen = plan.Plan(pin=pins.load(pins.newest()), scale='small')
        with rig.both(chosen) as sides:
            places = [self.endpoints(side.keystone) for side in sides]
            with rig.second_nodes(sides) as nodes:
                for side in sides:
                    node = nodes[side]
                    self.assertNotEqual(side.keystone.port, node.port)
                    token = client.token(node)
                    client.about(side.keystone, token)
                    client.revoke(side.keystone, token, token)
                    self.assertRaises(errors.Error, client.about, node, token)
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
                trees.get(pin),
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
        for name, make in {**rounds.STEADY, **rounds.OWN}.items():
            steps = make(self.keystone, user)
            with writing.writing(self.keystone, steps, 0.1) as answer:
                self.assertEqual({}, answer)
            self.assertGreater(answer['done'], 0, name)
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
            self.assertLess(service.refuses_after(token), _PATIENCE)
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
        self.assertIn('revocation events of 1,000 of them', said)
        path = pathlib.Path(self.folder) / 'revocations-against-small.json'
        text = path.read_text()
        self.assertNotIn(self.keystone.password, said + errors + text)
        points = json.loads(text)['points']
        self.assertEqual([0, 100, 1000], [one['events'] for one in points])
        for point in points:
            self.assertGreater(point['cloud']['rate'], 1)
        token = client.token(self.keystone)
        self.assertLess(1000, events_of(self.keystone, token))
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


def events_of(keystone, token):
    """How many revocation events a Keystone tells of."""
    return len(client.find(keystone, token, '/OS-REVOKE/events', {}))


def descendants(pid):
    """Ids of the processes below a process."""
    found = child.children(pid)
    return found + [below for one in found for below in descendants(one)]


class ReportTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def put(self, experiment, points):
        result = {
            'experiment': experiment,
            'version': '30.0.0+revcache.1',
            'scale': 'small',
            'token_caching': False,
            'command': f'./ks bench {experiment} --out "<here>"',
            'machine': {'processor': 'Abacus & Sons', 'cpus': 2},
            'load_average': 0.1,
            'steal': 0.07,
            'points': points,
        }
        path = self.folder / f'{experiment}.json'
        path.write_text(json.dumps(result))

    def draw(self):
        return subprocess.run(
            [paths.ROOT / 'ks', 'bench', 'report', '--out', self.folder],
            capture_output=True,
            text=True,
        )

    def test_one_page_with_everything(self):
        one = {
            'rate': 10, 'rate_spread': [9, 12], 'of_own_0': 1,
            'of_own_0_spread': [0.9, 1.1], 'p50': 1, 'p99': 2, 'repeats': 3,
            'runs': 3 * [{'rate': 10}],
        }  # fmt: skip
        mixed = {
            **one, 'loss': 0, 'work': 0, 'revoked': 1, 'revoke_p99': None,
            'revoker_cpu': 0,
        }  # fmt: skip
        first = {'ms': 40, 'spread': [30, 50], 'of_own_0': 1, 'runs': [[40]]}
        self.put(
            'revocations',
            [
                {
                    'kind': 'audit',
                    'events': count,
                    'stock': one,
                    'patched': one,
                }
                for count in (0, 10, 100)
            ],
        )
        self.put(
            'mixed',
            [
                {'asked': asked, 'stock': mixed, 'patched': mixed}
                for asked in (0, 5)
            ],
        )
        self.put(
            'prune',
            [
                {'expired': 0, 'stock': first, 'patched': first},
                {'expired': 100, 'stock': first, 'patched': first},
                {
                    'quiet': [one],
                    'pruning': [one, one],
                    'p99_ratio': 1,
                    'memory': {'first': 1024, 'most': 2048},
                    'summary': 'Deleted 100 events.',
                    'lock_waits': 0,
                    'longest_lock_wait': '0 ms',
                    'deadlocks': 0,
                },
            ],
        )
        self.put(
            'catalog',
            [
                {
                    'load': name,
                    'endpoints': size,
                    'stock': {**one, 'first': 50},
                    'patched': {**one, 'first': 20},
                    'ratio': 1,
                    'ratio_spread': [0.9, 1.1],
                }
                for name in ('validate', 'rescope')
                for size in (1, 300)
            ],
        )
        more = {**one, 'gets': 9, 'sets': 1, 'bytes': 999, 'ms': 4}
        sides = {
            'stock': more, 'patched': more, 'ratio': 1, 'ratio_spread': [1, 1],
        }  # fmt: skip
        loads = [
            {'what': what, 'clients': clients, **sides}
            for what in ('create', 'validate')
            for clients in (1, 20)
        ]
        self.put(
            'tokens',
            [
                {**point, 'cache': cache}
                for cache in ('memcached', 'none')
                for point in loads
            ],
        )
        self.put(
            'formats',
            [
                {**point, 'format': name}
                for name in ('fernet', 'jws')
                for point in loads
            ],
        )
        size = {'pss': 90, 'rss': 99, 'each': None}
        self.put(
            'memory',
            [
                {
                    'kind': kind,
                    'number': number,
                    'stock': size,
                    'patched': size,
                }
                for kind in ('chain', 'tokens')
                for number in (0, 10)
            ],
        )
        self.put(
            'rally',
            [
                {
                    **sides,
                    'database': database,
                    'delay': delay,
                    'scenario': 'create_and_list_users',
                    'clients': 10,
                    'stock': {**one, 'failed': 0, 'reads': 0.9},
                    'patched': {**one, 'failed': 1, 'reads': 0.8},
                }
                for database, delay in (('mariadb', 0), ('galera', 100))
            ],
        )
        written = {**one, 'written': 5, 'write_p50': None}
        self.put(
            'living',
            [
                {
                    **sides, 'case': case, 'pace': pace,
                    'stock': written, 'patched': written,
                }
                for case, paces in (
                    ('grants', ('quiet', '5/s', '0.2/s')),
                    ('own-ec2', ('quiet', 'loop')),
                )
                for pace in paces
            ],
        )  # fmt: skip
        asked = {**one, 'gets': 9, 'sets': 1, 'hits': 8, 'refused': None}
        self.put(
            'services',
            [
                {
                    **sides, 'case': case, 'where': where, 'load': load,
                    'stock': asked, 'patched': asked,
                }
                for case, where in (
                    ('services', '2 processes'), ('processes', '1 process'),
                    ('processes', '4 processes'),
                )
                for load in ('first service', 'all services')
            ],
        )  # fmt: skip
        refused = {'median': 0.1, 'most': None, 'tokens': 2, 'revoking': 1}
        self.put(
            'propagation',
            [
                {
                    'case': 'shared', 'delay': 0,
                    'stock': refused, 'patched': refused,
                },
                {'case': 'per-node-1s', 'delay': 0, 'patched': refused},
            ],
        )  # fmt: skip
        noticed = {
            'requests': 9, 'failed': 1, 'refused': 0, 'lasted': 2,
            'recovered': 1, 'slowest': 1, 'revoked': 3, 'accepted': 0,
            'longest': 0,
        }  # fmt: skip
        lost = {'lost': 0}
        self.put(
            'faults',
            [
                {
                    'case': 'near', 'fault': 'worker killed',
                    'stock': noticed, 'patched': noticed,
                },
                {
                    'case': 'near', 'fault': 'after all of them',
                    'stock': lost, 'patched': lost,
                },
            ],
        )  # fmt: skip
        done = self.draw()
        self.assertEqual(0, done.returncode, done.stderr)
        text = (self.folder / 'report.html').read_text()
        charts = [one.name for one in self.folder.glob('*.svg')]
        self.assertCountEqual(
            ['revocations-1.svg', 'revocations-2.svg', 'mixed-1.svg']
            + ['prune-1.svg', 'catalog-1.svg', 'tokens-1.svg']
            + ['tokens-2.svg', 'formats-1.svg', 'memory-1.svg']
            + ['rally-1.svg', 'rally-2.svg']
            + ['living-1.svg', 'living-2.svg', 'services-1.svg']
            + ['propagation-1.svg', 'faults-1.svg'],
            charts,
        )
        self.assertEqual(f'{self.folder}/report.html\n', done.stdout)
        root = ElementTree.fromstring(
            text.replace('<meta charset="utf-8">', '').partition('\n')[2]
        )
        svg = '{http://www.w3.org/2000/svg}'
        self.assertEqual(16, len(list(root.iter(f'{svg}svg'))))
        ids = [one.get('id') for one in root.iter(f'{svg}clipPath')]
        self.assertEqual(len(ids), len(set(ids)))
        words = ''.join(root.itertext())
        for expected in (
            'live events (logarithmic)',
            'revocations per second, asked for',
            'expired rows in the table',
            'endpoints in the catalog',
            'keys read, for each request',
            'milliseconds for an answer',
            'tokens that each process has validated',
            'galera, 100 ms away, 10 at once',
            'rounds of writes per second',
            'per cent of the quiet rate',
            'percentage of failed requests',
            'Abacus & Sons',
            './ks bench mixed --out "<here>"',
            'Deleted 100 events.',
        ):
            self.assertIn(expected, words)
        # It loads nothing from elsewhere.
        self.assertNotRegex(text, r'(?i)<(script|link|img|iframe)\b|@import')

    def test_nothing_to_draw(self):
        done = self.draw()
        self.assertEqual(1, done.returncode)
        self.assertEqual(
            f'ks: error: {self.folder} has no results\n', done.stderr
        )
