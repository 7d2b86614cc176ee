# SPDX-License-Identifier: Apache-2.0

"""Connections with a delay: :mod:`bench.delay` in a process of its own."""

import json
import os
import subprocess
import sys

from patchset import child
from patchset import errors
from patchset import paths


class Lines:
    """Several proxies of one process, which ends with the block.

    :param proxies: list of [where, to, whether it is long], see
        :mod:`bench.delay`
    :param prefix: words of a command to run the process by
    """

    def __init__(self, proxies, prefix=()):
        self._proxies = proxies
        self._prefix = prefix
        self._process = None
        #: where the proxies listen
        self.places = []

    def __enter__(self):
        self._process = child.start(
            [*self._prefix, sys.executable, '-P', '-m', 'bench.delay'],
            env={**os.environ, 'PYTHONPATH': str(paths.ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._say(json.dumps(self._proxies))
        answer = self._process.stdout.readline()
        if not answer:
            self.__exit__()
            raise errors.Error('the delay proxy did not start')
        self.places = json.loads(answer)
        return self

    def __exit__(self, *_):
        child.stop(self._process)
        self._process.stdin.close()
        self._process.stdout.close()

    @property
    def pid(self):
        """Process id of the proxies."""
        return self._process.pid

    def lengthen(self, milliseconds):
        """Have a question and its answer take so much longer from now on."""
        self._say(milliseconds / 2)

    def _say(self, words):
        self._process.stdin.write(f'{words}\n')
        self._process.stdin.flush()


class Line(Lines):
    """One long line to a server on 127.0.0.1.

    :param port: the server's TCP port
    """

    def __init__(self, port):
        super().__init__([[0, port, True]])
        self._server = port

    @property
    def port(self):
        """TCP port of the near end."""
        return self.places[0]

    def through(self, url):
        """The server's URL, by way of the line."""
        return url.replace(
            f'@127.0.0.1:{self._server}/', f'@127.0.0.1:{self.port}/'
        )
