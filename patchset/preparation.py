# SPDX-License-Identifier: Apache-2.0

"""What a Keystone needs before it starts: keys, schema and admin."""

import hashlib
import json
import os
import pathlib
import secrets

from patchset import child
from patchset import errors
from patchset import paths
from patchset import progress
from patchset import state as states
from patchset import urls

CONNECT = 10  # seconds that a database has to answer
MIGRATIONS = 'keystone/common/sql/migrations/versions'


class Preparation:
    """Finds out what is missing, and makes it.

    ``password`` is the admin's from then on, ``password_is_new`` tells
    whether it was made here.

    :param keystone: a :class:`patchset.deployment.Deployment` whose state
        folder is claimed
    :param password: the admin's new password, or None
    :raises patchset.errors.Error: the database cannot be reached, or has an
        admin whose password is not known
    """

    def __init__(self, keystone, password):
        self._keystone = keystone
        self._state = keystone.state
        self._found = self._inspect()
        self._record = self._state.record()
        self.password_is_new = False
        self._choose_password(password)

    def _choose_password(self, wanted):
        admin = self._found['admin']
        ours = admin in (None, self._record.get('admin')) or (
            # A bootstrap of this very database was cut short.
            self._record.get('pending') == mark(self._keystone.database)
        )
        kept = self._state.read('admin-password')
        if not (ours and kept) and not wanted:
            if admin:
                raise errors.Error(
                    f'{urls.redacted(self._keystone.database)} '
                    f'already has an admin whose password is not in '
                    f'{self._state.path}: set a new password, or choose '
                    f'another database'
                )
            kept = secrets.token_urlsafe(18)
            self.password_is_new = True
            # Kept before it is used, so that no failure can lose it.
            self._state.write('admin-password', kept)
        self.password = wanted or kept
        self._password_changes = self.password != kept or not ours

    def run(self):
        """Run the keystone-manage commands that are due."""
        self._make_signing_keys()
        made = {
            'url': self._keystone.url,
            'migrations': sorted(
                path.name
                for path in (self._keystone.tree / MIGRATIONS).rglob('*.py')
            ),
        }
        commands = [*self._key_commands(), *self._database_commands(made)]
        if not commands:
            return
        listed = ', '.join(words[0] for words in commands)
        with progress.stage(f'keystone-manage: {listed}'):
            self._manage(commands)
        self._state.write('admin-password', self.password)
        self._state.note({**self._inspect(), **made})

    def _key_commands(self):
        for command, *sections in (
            ('fernet_setup', 'fernet_tokens', 'fernet_receipts'),
            ('credential_setup', 'credential'),
        ):
            keys = [
                pathlib.Path(
                    self._keystone.options[one]['key_repository'], '0'
                )
                for one in sections
            ]
            if not all(key.exists() for key in keys):
                yield [command, *owner()]

    def _database_commands(self, made):
        expected = {**self._found, **made}
        if any(
            self._record.get(name) != expected[name]
            for name in ('revisions', 'migrations')
        ):
            yield ['db_sync']
        if self._password_changes or self._record != expected:
            if not self._found['admin']:
                self._state.note({'pending': mark(self._keystone.database)})
            yield [
                'bootstrap',
                '--bootstrap-region-id', 'RegionOne',
                '--bootstrap-public-url', made['url'],
                '--bootstrap-internal-url', made['url'],
                '--bootstrap-admin-url', made['url'],
            ]  # fmt: skip

    def _make_signing_keys(self):
        """Make the keys that JWS tokens are signed with, if they are used."""
        options = self._keystone.options
        if options['token']['provider'] != 'jws':
            return
        private, public = (
            pathlib.Path(options['jwt_tokens'][f'jws_{one}_repository'])
            for one in ('private_key', 'public_key')
        )
        key = public / 'public.pem'
        if key.exists():
            return
        for folder in (private, public):
            folder.mkdir(mode=0o700, exist_ok=True)
        # An incomplete pair is created again.
        words = ['create_jws_keypair', '--force', *owner()]
        self._manage([words], cwd=private)
        os.replace(private / key.name, key)

    def _inspect(self):
        """What the database holds; see tree_scripts/database.py.

        :raises patchset.errors.Error: it cannot be reached
        """
        url = self._keystone.database
        venv = self._keystone.environment
        answer = json.loads(
            child.run(
                [venv.python, '-P', '-Wignore', paths.SCRIPTS / 'database.py'],
                env=venv.variables(self._keystone.tree),
                stdin=json.dumps({'url': url, 'timeout': CONNECT}),
                what='asking the database',
            )
        )
        if 'error' in answer:
            reason = answer['error']
            for password in urls.passwords(url):
                reason = reason.replace(password, '***')
            raise errors.Error(f'database {urls.redacted(url)}: {reason}')
        return answer

    def _manage(self, commands, **options):
        """Run keystone-manage commands, each to its end."""
        path = self._state.path / 'manage.log'
        with open(path, 'ab', opener=states.private) as log:
            start = log.tell()
            with self._keystone.manage(
                [word for one in commands for word in (*one, ';')],
                {'OS_BOOTSTRAP_PASSWORD': self.password},
                stdout=log, stderr=log, umask=0o077, **options,
            ) as process:  # fmt: skip
                code = process.wait()
        if code:
            # Of several commands, the code is the number of the failed one.
            name = (commands[:code] or commands)[-1][0]
            raise errors.Error(
                f'keystone-manage failed: {name}: '
                f'{child.last_words(path, start)}; see {path}'
            )


def owner():
    """Options of the commands that make keys: root says who owns them."""
    if os.geteuid() == 0:
        return ['--keystone-user', 'root', '--keystone-group', 'root']
    return []


def mark(database):
    """A name for a database that tells no password."""
    return hashlib.sha256(database.encode()).hexdigest()
