# SPDX-License-Identifier: Apache-2.0

"""TCP proxies that add a delay, as a long-distance connection does.

They run in a process of their own, which :class:`Lines` starts. The first line
on its standard input is a JSON list of proxies: [place to listen on, place to
connect to, which share of the delay it has]. A place is a port of 127.0.0.1, 0
for a free one, or the path of a Unix socket, which connects two network
namespaces. The response is the list of the places on which they listen. Each
further line is a number of milliseconds, by which each chunk of bytes is
delayed from then on, in order and in both directions. Multiple chunks can be
in transit, so that the delay does not limit the bandwidth.
"""

import asyncio
import functools
import json
import os
import socket
import subprocess
import sys
import threading
import types

from patchset import child
from patchset import errors
from patchset import paths

_CHUNK = 65536  # bytes
_UNDER_WAY = 1024  # chunks of a connection, in one direction


class Lines:
    """Several proxies, whose process ends with the block.

    :param proxies: list of [where, to, share of the delay], see the module
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
            [*self._prefix, sys.executable, '-P', '-m', 'bench.line'],
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
        super().__init__([[0, port, 1]])
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


async def serve(proxies, late):
    """Hand on what comes in, for ever.

    :param proxies: list of (place, place, share of the delay)
    :param late: its ``seconds`` are that delay, which may change
    """
    places = []
    for where, to, share in proxies:
        connected = functools.partial(lead, to, share, late)
        if isinstance(where, int):
            server = await asyncio.start_server(connected, '127.0.0.1', where)
            where = server.sockets[0].getsockname()[1]
        else:
            await asyncio.start_unix_server(connected, where)
        places.append(where)
    print(json.dumps(places), flush=True)
    await asyncio.get_running_loop().create_future()


async def lead(to, share, late, reader, writer):
    """Lead one connection to a place, until one of its ends closes it."""
    try:
        if isinstance(to, int):
            other, target = await asyncio.open_connection('127.0.0.1', to)
        else:
            other, target = await asyncio.open_unix_connection(to)
    except OSError:
        writer.close()
        return
    await asyncio.gather(
        hand_on(reader, target, share, late),
        hand_on(other, writer, share, late),
    )


async def hand_on(reader, writer, share, late):
    """Write what is read, each chunk with a share of the delay."""
    connection = writer.get_extra_info('socket')
    if connection.family == socket.AF_INET:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    loop = asyncio.get_running_loop()
    chunks = asyncio.Queue(_UNDER_WAY)

    async def read():
        try:
            while data := await reader.read(_CHUNK):
                await chunks.put((loop.time() + share * late.seconds, data))
        except OSError:
            pass
        await chunks.put((loop.time() + share * late.seconds, b''))

    task = asyncio.create_task(read())
    try:
        while True:
            due, data = await chunks.get()
            await asyncio.sleep(max(0, due - loop.time()))
            if not data:
                break
            writer.write(data)
            await writer.drain()
    except OSError:
        task.cancel()
    finally:
        writer.close()


def main():
    """Serve as the module says."""
    late = types.SimpleNamespace(seconds=0.0)
    proxies = json.loads(sys.stdin.readline())

    def obey():
        for words in sys.stdin:
            late.seconds = float(words) / 1000

    threading.Thread(target=obey, daemon=True).start()
    asyncio.run(serve(proxies, late))


if __name__ == '__main__':
    main()
