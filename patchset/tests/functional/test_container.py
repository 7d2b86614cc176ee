# SPDX-License-Identifier: Apache-2.0

"""The image of contrib/container, built and run by podman."""

import os
import pathlib
import re
import secrets
import shutil

import fixtures
import testtools
import yaml

from patchset import assemble
from patchset import child
from patchset import client
from patchset import errors
from patchset import paths
from patchset import pins
from patchset.commands import build
from patchset.services import mariadb
from patchset.services import memcached
from patchset.services import server
from patchset.tests.functional import test_deployment

CONTRIB = paths.ROOT / 'contrib' / 'container'
SUITE = 'trixie'
NAME = 'keystone'
AUTHORITIES = '/usr/local/share/ca-certificates'
LOOPBACK = '10.0.2.2'  # this machine's, as slirp4netns shows it
_PATIENCE = 300  # seconds


class ContainerTestCase(testtools.TestCase):
    """Has a base image, in a storage that is gone at the end."""

    def setUp(self):
        super().setUp()
        try:
            for name in ('podman', 'debootstrap', 'slirp4netns'):
                child.find(name)
        except errors.NotInstalled as error:
            self.skipTest(str(error))
        if os.geteuid() != 0:
            self.skipTest('only root can make the base image')
        # Temporary folders can be where no device nodes may be.
        folder = fixtures.TempDir(rootdir=paths.BUILD)
        self.folder = pathlib.Path(self.useFixture(folder).path)
        self.context = self.folder / 'context'
        for name in ('contrib', 'requirements'):
            shutil.copytree(paths.ROOT / name, self.context / name)
        self.addCleanup(self.podman, 'rmi', '--all', '--force')
        self.addCleanup(self.podman, 'rm', '--all', '--force', '--volumes')
        self.import_base()

    def podman(self, *words):
        """What podman prints; nothing of the machine's own is touched."""
        storage = [
            f'--{name}={self.folder / name}'
            for name in ('root', 'runroot', 'tmpdir')
        ]
        # The other one, crun, does not run on every mixture of cgroups.
        if shutil.which('runc'):
            storage.append('--runtime=runc')
        program = [child.find('podman'), '--cgroup-manager=cgroupfs']
        return child.run([*program, *storage, *words]).strip()

    def import_base(self):
        """Make the image that the Containerfile starts from."""
        root, archive = self.folder / 'base', self.folder / 'base.tar'
        debootstrap = child.find('debootstrap')
        child.run([debootstrap, '--variant=minbase', SUITE, root])
        # pip trusts its index if it does so here.
        if pathlib.Path(AUTHORITIES).is_dir():
            shutil.copytree(
                AUTHORITIES, f'{root}{AUTHORITIES}', dirs_exist_ok=True
            )
        child.run(['tar', '-C', root, '-cf', archive, '.'])
        shutil.rmtree(root)
        text = (CONTRIB / 'Containerfile').read_text()
        name = re.search(r'^FROM (\S+)$', text, re.M)[1]
        self.podman('import', '--quiet', archive, name)

    def run_service(self, port, database, cache, password):
        """Run the image as compose.yaml does, and wait until it is healthy."""
        text = (CONTRIB / 'compose.yaml').read_text()
        service = yaml.safe_load(text)['services']['keystone']
        variables = {
            **service['environment'],
            'OS_DATABASE__CONNECTION': database,
            'OS_CACHE__MEMCACHE_SERVERS': cache,
            'OS_BOOTSTRAP_PASSWORD': password,
        }
        self.assertTrue(service['read_only'])
        options = [
            '--read-only', f'--tmpfs={service["tmpfs"]}',
            *(f'--env={name}={variables[name]}' for name in variables),
            *(f'--cap-drop={name}' for name in service['cap_drop']),
            *(f'--security-opt={one}' for one in service['security_opt']),
            *(f'--volume={one}' for one in service['volumes']),
        ]  # fmt: skip
        self.podman(
            'run', '--detach', f'--name={NAME}', *options,
            '--network=slirp4netns:allow_host_loopback=true',
            f'--publish=127.0.0.1:{port}:5000',
            # podman's own are higher than some machines allow.
            '--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024',
            service['image'], *service['command'],
        )  # fmt: skip
        child.wait_until(
            self.is_healthy, _PATIENCE, 'the container did not become healthy'
        )

    def is_healthy(self):
        try:
            self.podman('healthcheck', 'run', NAME)
        except errors.Error:
            return False
        return True

    def test_it_serves_read_only_without_privileges(self):
        pin = pins.load(pins.newest())
        build.wheel(assemble.ensure(pin), pin, self.context / 'dist')
        self.podman(
            'build', '--format=docker', '--network=host',
            '--tag=keystone-revcache',
            f'--file={self.context}/contrib/container/Containerfile',
            self.context,
        )  # fmt: skip
        password, port = secrets.token_hex(16), server.free_port()
        with mariadb.MariaDB() as database, memcached.Memcached() as cache:
            url, servers = (
                text.replace('127.0.0.1', LOOPBACK)
                for text in (database.url('keystone'), cache.address)
            )
            self.run_service(port, url, servers, password)
            life = test_deployment.life(
                client.Client(port), client.password(password)
            )
            self.assertEqual(test_deployment.LIFE, life)
            self.assertNotEqual('0', cache.stats()['cmd_set'])
            self.assertEqual('keystone', self.podman('exec', NAME, 'whoami'))
            self.assertRaisesRegex(
                errors.Error, 'Read-only file system',
                self.podman, 'exec', NAME, 'touch', '/opt/keystone/new',
            )  # fmt: skip
