# SPDX-License-Identifier: Apache-2.0

"""The folder that holds one Keystone's files."""

import contextlib
import fcntl
import json
import os
import tempfile

from patchset import errors


class State:
    """A private folder, with one user at a time.

    :param path: the folder, made if it is missing
    """

    def __init__(self, path):
        self.path = path.absolute()
        self._lock = None

    def claim(self):
        """Make the folder and keep everybody else out of it.

        :raises patchset.errors.Error: it cannot be written, holds other
            things, or another program has it
        """
        if self._lock:
            return
        with self._explained():
            self._make()
            lock = open(self.path / 'lock', 'a+', opener=private)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                holder = lock.read().strip() or 'unknown'
                lock.close()
                raise errors.Error(
                    f'{self.path} is in use by another Keystone (started by '
                    f'process {holder}); stop it, or choose another folder'
                )
            lock.truncate(0)
            lock.write(f'{os.getpid()}\n')
            lock.flush()
            self._lock = lock

    def release(self):
        """Let others in again."""
        if self._lock:
            self._lock.close()
            self._lock = None

    def is_claimed(self):
        """Whether a program has the folder."""
        try:
            with open(self.path / 'lock') as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def _make(self):
        if not self.path.is_dir():
            self.path.mkdir(mode=0o700, parents=True)
        # A folder with other people's files in it is not made private.
        elif not (self.path / 'lock').exists() and any(self.path.iterdir()):
            raise errors.Error(
                f'{self.path} contains unrelated files; choose an empty or '
                f'new folder'
            )
        self.path.chmod(0o700)
        (self.path / 'keystone.conf.d').mkdir(mode=0o700, exist_ok=True)

    def write(self, name, text):
        """Write a file that only its owner can read, all at once."""
        with self._explained():
            handle, new = tempfile.mkstemp(dir=self.path, prefix='.new-')
            try:
                with open(handle, 'w') as target:
                    target.write(text)
                os.replace(new, self.path / name)
            except BaseException:
                os.unlink(new)
                raise

    def read(self, name):
        """Text of a file; None if there is none."""
        with self._explained():
            path = self.path / name
            return path.read_text() if path.is_file() else None

    def record(self):
        """What was noted last: a dict."""
        try:
            return json.loads(self.read('deployment.json') or '{}')
        except ValueError:
            return {}

    def note(self, record):
        """Replace the record."""
        self.write('deployment.json', json.dumps(record, indent=1) + '\n')

    @contextlib.contextmanager
    def _explained(self):
        try:
            yield
        except OSError as error:
            where = error.filename or self.path
            raise errors.Error(
                f'cannot use the folder {self.path}: {where}: {error.strerror}'
            )


def private(path, flags):
    """An opener of files that only their owner can read."""
    return os.open(path, flags, 0o600)
