# SPDX-License-Identifier: Apache-2.0

"""A private HAProxy in front of several HTTP servers."""

import contextlib
import csv
import pathlib
import signal
import socket

from patchset import child
from patchset import errors
from patchset.services import server

BACKEND = 'keystone'  # in haproxy.cfg
TIMEOUT = 60  # seconds for a reload, and for state changes of servers
_CONFIGURATION = pathlib.Path(__file__).with_suffix('.cfg')


class HAProxy(server.Server):
    """An HAProxy that distributes requests to its servers by round robin.

    A server that fails two health checks, or is drained, receives none. Each
    response names the server in the header ``X-Served-By``.

    :param servers: {name: TCP port on 127.0.0.1}
    :param port: TCP port to listen on; None selects a free one
    :param check_timeout: seconds until a health check fails
    """

    name = 'haproxy'
    users = ('haproxy', 'nobody')
    start_timeout = 20

    def __init__(self, folder=None, servers=(), port=None, check_timeout=5):
        super().__init__(folder)
        self._servers = dict(servers)
        self.fixed_port = port
        self._check_timeout = check_timeout
        self.statistics = None  # URL of the statistics page

    @property
    def runtime(self):
        """Path of the runtime socket, which accepts commands."""
        return self.folder / 'runtime'

    def wait_for(self, expected):
        """Wait until servers have the given states.

        :param expected: {name: state}, as returned by :func:`states`
        :raises patchset.errors.Error: they do not reach them in time
        """
        child.wait_until(
            lambda: expected.items() <= states(self.runtime).items(),
            TIMEOUT,
            lambda: errors.Error(
                f'haproxy: states {states(self.runtime)}, expected {expected}'
            ),
        )

    @contextlib.contextmanager
    def drained(self, name):
        """Send no new requests to a server, and wait for its current ones.

        After the block, it is used again.

        :raises patchset.errors.Error: that does not happen in time
        """
        set_state(self.runtime, name, 'drain')
        child.wait_until(
            lambda: not int(_rows(self.runtime)[name]['scur']),
            TIMEOUT,
            f'haproxy: {name} still has active requests',
        )
        yield
        set_state(self.runtime, name, 'ready')
        self.wait_for({name: 'UP'})

    def reload(self):
        """Reload the configuration, which starts a new worker process.

        :raises patchset.errors.Error: it did not start in time
        """
        before = self._worker()
        self._process.send_signal(signal.SIGUSR2)
        child.wait_until(
            lambda: self._worker() not in (before, None),
            TIMEOUT,
            'haproxy did not reload',
        )

    def _worker(self):
        """Process id of the current worker; None if none responds."""
        try:
            lines = send_command(self.runtime, 'show info').splitlines()
        except errors.Error:
            return None
        found = dict(one.split(': ', 1) for one in lines if ': ' in one)
        return found.get('Pid')

    def _command(self):
        statistics = server.free_port()
        self.statistics = f'http://127.0.0.1:{statistics}/'
        lines = [
            f'    server {name} 127.0.0.1:{port} check'
            for name, port in self._servers.items()
        ]
        text = _CONFIGURATION.read_text().format(
            folder=self.folder,
            port=self.port,
            check_timeout=self._check_timeout,
            servers='\n'.join(lines),
            statistics=statistics,
        )
        path = self._write('haproxy.cfg', text)
        # The master process is not replaced by a reload.
        return [child.find('haproxy'), '-W', '-f', path]

    def _is_ready(self):
        return self._worker() is not None


def states(path):
    """The states of the servers of an HAProxy.

    :param path: path of its runtime socket
    :returns: {name: ``UP``, ``DOWN``, ``DRAIN`` or another state}
    :raises patchset.errors.Error: it does not respond
    """
    return {
        name: row['status'].partition(' ')[0]
        for name, row in _rows(path).items()
    }


def _rows(path):
    """The statistics of each server: {name: {field: text}}."""
    lines = send_command(path, 'show stat').removeprefix('# ').splitlines()
    return {
        row['svname']: row
        for row in csv.DictReader(lines)
        if row['pxname'] == BACKEND
        and row['svname'] not in ('FRONTEND', 'BACKEND')
    }


def set_state(path, name, state):
    """Set the state of a server of an HAProxy.

    :param path: path of its runtime socket
    :param state: ``ready``, ``drain`` or ``maint``
    :raises patchset.errors.Error: HAProxy reported an error
    """
    answer = send_command(
        path, f'set server {BACKEND}/{name} state {state}'
    ).strip()
    if answer:
        raise errors.Error(f'haproxy: {answer}')


def send_command(path, command):
    """Send a command to a runtime socket and return the response.

    :raises patchset.errors.Error: HAProxy does not respond
    """
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(10)
            one.connect(str(path))
            one.sendall(f'{command}\n'.encode())
            return b''.join(iter(lambda: one.recv(65536), b'')).decode()
    except OSError as error:
        raise errors.Error(f'HAProxy does not respond at {path}: {error}')
