# SPDX-License-Identifier: Apache-2.0

"""Tests of running Keystones, SQLite below and real requests above."""

import atexit
import concurrent.futures
import functools
import pathlib
import shutil
import sqlite3
import stat
import tempfile

import fixtures
import testtools

from patchset import client
from patchset import errors
from patchset import preparation
from patchset.services import server
from patchset.test_parts import cloud

LIFE = [201, 200, 204, 404]  # statuses of a token's life


def life(api, identity):
    """Statuses of a token: created, checked, revoked, checked again.

    :param api: a :class:`patchset.client.Client`
    """
    caller = api.issue(identity, client.ADMIN_PROJECT)
    created = api.authenticate(identity, client.ADMIN_PROJECT)
    subject = created.headers['x-subject-token']
    return [
        created.status,
        api.validate(caller, subject),
        api.revoke(caller, subject),
        api.validate(caller, subject),
    ]


@functools.cache
def prepared():
    """A deployment whose state folder is ready to be copied."""
    folder = tempfile.mkdtemp(prefix='ks-test-')
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    keystone = cloud.keystone(f'{folder}/state')
    keystone.prepare()
    keystone.stop()
    return keystone


class RunningTestCase(testtools.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        state = f'{folder}/state'
        shutil.copytree(prepared().state.path, state)
        cls.keystone = cls.enterClassContext(
            cloud.keystone(state, port=prepared().port)
        )
        cls.client = client.Client(cls.keystone.port)
        cls.admin = client.password(cls.keystone.password)

    def test_life_of_a_token(self):
        self.assertEqual(LIFE, life(self.client, self.admin))

    def test_eight_clients_at_once(self):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            lives = list(pool.map(life, [self.client] * 24, [self.admin] * 24))
        self.assertEqual([LIFE] * 24, lives)

    def test_the_catalog_has_its_address(self):
        token = self.client.issue(self.admin, client.ADMIN_PROJECT)
        body = self.client.ask('GET', '/auth/catalog', token).body
        endpoints = body['catalog'][0]['endpoints']
        self.assertEqual(
            {
                (name, 'RegionOne', self.keystone.url)
                for name in ('public', 'internal', 'admin')
            },
            {(one['interface'], one['region'], one['url'])
             for one in endpoints},
        )  # fmt: skip

    def test_a_token_of_sixty_kilobytes_is_read(self):
        answer = self.client.ask('GET', '/projects', 'x' * 60000)
        self.assertEqual(401, answer.status)

    def test_files_are_private(self):
        for path in self.keystone.state.path.rglob('*'):
            mode = stat.S_IMODE(path.stat().st_mode)
            self.assertEqual(0, mode & 0o077, path)

    def test_a_second_one_in_the_same_folder(self):
        other = cloud.keystone(self.keystone.state.path)
        error = self.assertRaises(errors.Error, other.prepare)
        self.assertIn('is in use by another Keystone', str(error))

    def test_a_second_one_on_the_same_port(self):
        folder = self.useFixture(fixtures.TempDir()).path
        other = cloud.keystone(folder, port=self.keystone.port)
        error = self.assertRaises(errors.Error, other.start)
        self.assertIn(f'port {self.keystone.port} of 127.0.0.1', str(error))
        self.assertIn('is in use by uwsgi', str(error))


class SignedTokensTestCase(testtools.TestCase):
    def test_keys_are_made_once(self):
        state = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'state')
        shutil.copytree(prepared().state.path, state)
        keystone = cloud.keystone(
            state, port=prepared().port,
            options={'token': {'provider': 'jws'}},
        )  # fmt: skip
        with keystone:
            node = client.Client(keystone.port)
            admin = client.password(keystone.password)
            self.assertEqual(2, node.issue(admin).count('.'))
            self.assertEqual(LIFE, life(node, admin))
        keys = {path: path.read_bytes() for path in state.rglob('*.pem')}
        self.assertEqual(
            {'jws-private-keys/private.pem', 'jws-public-keys/public.pem'},
            {str(path.relative_to(state)) for path in keys},
        )
        for path in keys:
            self.assertEqual(0o600, stat.S_IMODE(path.stat().st_mode))
        keystone.prepare()
        keystone.stop()
        self.assertEqual(keys, {path: path.read_bytes() for path in keys})


class PrepareTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = self.folder / 'state'
        self.first = prepared()
        self.port = self.first.port
        shutil.copytree(self.first.state.path, self.path)

    def prepare(self, **arguments):
        keystone = cloud.keystone(
            self.path, **{'port': self.port, **arguments}
        )
        self.addCleanup(keystone.stop)
        keystone.prepare()
        keystone.stop()
        return keystone

    def manage_log(self):
        return (self.path / 'manage.log').read_text()

    def endpoints(self):
        with sqlite3.connect(self.path / 'keystone.db') as database:
            rows = database.execute('SELECT url FROM endpoint').fetchall()
        return {url for (url,) in rows}

    def test_again_and_again(self):
        first = self.first
        self.assertTrue(first.password_is_new)
        log = self.manage_log()

        with self.subTest('nothing is done twice'):
            second = self.prepare()
            self.assertFalse(second.password_is_new)
            self.assertEqual(first.password, second.password)
            self.assertEqual(log, self.manage_log())

        with self.subTest('another port'):
            third = self.prepare(port=server.free_port())
            self.assertEqual({third.url}, self.endpoints())
            self.assertIn(third.url, third.openrc.read_text())
            self.assertEqual(first.password, third.password)

        with self.subTest('a wiped database'):
            (self.path / 'keystone.db').unlink()
            keys = sorted((self.path / 'fernet-keys').glob('[0-9]*'))
            secrets = [key.read_text() for key in keys]
            fourth = self.prepare()
            self.assertEqual({fourth.url}, self.endpoints())
            self.assertEqual(first.password, fourth.password)
            self.assertEqual(secrets, [key.read_text() for key in keys])

    def test_a_new_password_is_applied(self):
        old = self.first.password
        keystone = cloud.keystone(self.path, port=self.port, password='second')
        with keystone:
            node = client.Client(self.port)
            for secret, status in (('second', 201), (old, 401)):
                answer = node.authenticate(client.password(secret))
                self.assertEqual(status, answer.status)
        for path in (keystone.openrc, keystone.clouds):
            self.assertIn('second', path.read_text())
        self.assertEqual('second', self.prepare().password)

    def test_an_admin_of_others_is_left_alone(self):
        url = f'sqlite:///{self.path}/keystone.db'
        self.path = self.folder / 'other'
        error = self.assertRaises(errors.Error, self.prepare, database=url)
        self.assertIn('already has an admin', str(error))
        self.assertFalse((self.path / 'admin-password').exists())
        # Unless the user says what the password shall be.
        self.assertEqual(
            'mine', self.prepare(database=url, password='mine').password
        )

    def test_a_bootstrap_that_was_cut_short(self):
        other = cloud.keystone(self.path, port=self.port)
        other.state.note({'pending': preparation.mark(other.database)})
        second = self.prepare()
        self.assertEqual(self.first.password, second.password)
        self.assertIn('admin', second.state.record())

    def test_a_failed_step_tells_why_and_keeps_the_password(self):
        (self.path / 'keystone.db').unlink()
        options = {'assignment': {'driver': 'nonsense'}}
        error = self.assertRaises(errors.Error, self.prepare, options=options)
        self.assertIn('keystone-manage failed: bootstrap: ', str(error))
        self.assertIn('nonsense', str(error))
        self.assertEqual(
            self.first.password, (self.path / 'admin-password').read_text()
        )


class FailureTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def failure(self, **arguments):
        keystone = cloud.keystone(self.folder / 'state', **arguments)
        self.addCleanup(keystone.stop)
        return str(self.assertRaises(errors.Error, keystone.prepare))

    def test_unreachable_databases(self):
        port = server.free_port()
        for dialect in ('mysql', 'postgresql'):
            message = self.failure(
                database=f'{dialect}://user:sesame@127.0.0.1:{port}/keystone'
            )
            self.assertIn(f'127.0.0.1:{port}/keystone: ', message)
            self.assertIn('refused', message)
            self.assertNotIn('sesame', message)

    def test_malformed_database_port(self):
        message = self.failure(database='mysql://user:sesame@h:port/k')
        self.assertIn('database mysql+pymysql://h:port/k: ', message)
        self.assertNotIn('sesame', message)

    def test_a_file_that_is_no_database(self):
        path = self.folder / 'letter'
        path.write_text('dear ' * 100)
        message = self.failure(database=f'sqlite:///{path}')
        self.assertEqual(
            f'database sqlite:///{path}: file is not a database', message
        )
        self.assertEqual('dear ' * 100, path.read_text())

    def test_unreachable_cache(self):
        port = server.free_port()
        message = self.failure(cache=f'memcached://127.0.0.1:{port}')
        self.assertIn(f'no memcached at 127.0.0.1:{port}', message)

    def test_several_processes_need_a_shared_cache(self):
        error = self.assertRaises(
            errors.UsageError, cloud.keystone, self.folder, processes=2
        )
        self.assertIn('require a shared cache', str(error))

    def test_a_server_that_does_not_start(self):
        state = self.folder / 'state'
        shutil.copytree(prepared().state.path, state)
        extra = state / 'keystone.conf.d' / 'bad.conf'
        extra.write_text('[token]\nprovider = nonsense\n')
        bad = cloud.keystone(state, port=prepared().port)
        self.addCleanup(bad.stop)
        bad.prepare()
        error = self.assertRaises(errors.Error, bad.start)
        self.assertIn('the server did not start: ', str(error))
        self.assertIn('nonsense', str(error))
        self.assertIn(str(bad.log), str(error))
        self.assertIsNone(bad._server)
