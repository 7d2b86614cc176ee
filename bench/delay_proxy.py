# SPDX-License-Identifier: Apache-2.0

"""TCP proxies that add a delay, as a long-distance connection does.

They run in a process of their own, which :class:`DelayProxies` starts. The
first line on its standard input is a JSON list of proxies: [address to listen
on, address to connect to, its share of the delay]. An address is a port of
127.0.0.1, 0 for a free one, or the path of a Unix socket, which connects two
network namespaces. The response is the list of the addresses on which they
listen. Each further line is a number of milliseconds, by which each chunk of
bytes is delayed from then on, in order and in both directions. Multiple chunks
can be in transit, so that the delay does not limit the bandwidth.
"""

import asyncio
import functools
import json
import math
import os
import subprocess
import sys
import threading
import types

from patchset import child
from patchset import errors
from patchset import paths

_CHUNK = 65536  # bytes


class DelayProxies:
    """Several proxies; a context manager whose process ends with the block.

    :param proxies: list of [listen, connect, share of the delay], see the
        module
    :param prefix: words of a command to run the process by
    """

    def __init__(self, proxies, prefix=()):
        self._proxies = proxies
        self._prefix = prefix
        self._process = None
        #: where the proxies listen
        self.addresses = []

    def __enter__(self):
        self._process = child.start(
            [*self._prefix, sys.executable, '-P', '-m', 'bench.delay_proxy'],
            env={**os.environ, 'PYTHONPATH': str(paths.ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._send(json.dumps(self._proxies))
        response = self._process.stdout.readline()
        if not response:
            self.__exit__()
            raise errors.Error('the delay proxy did not start')
        self.addresses = json.loads(response)
        return self

    def __exit__(self, *error):
        self._process.__exit__(*error)

    @property
    def pid(self):
        """Process id of the proxies."""
        return self._process.pid

    def set_delay(self, milliseconds):
        """Set the additional round trip time."""
        self._send(milliseconds / 2)

    def _send(self, line):
        self._process.stdin.write(f'{line}\n')
        self._process.stdin.flush()


async def serve(proxies, delay):
    """Run the proxies forever.

    :param proxies: list of (address, address, share of the delay)
    :param delay: its ``seconds`` are the delay, which may change
    """
    addresses = []
    for listen, connect, share in proxies:
        handle = functools.partial(handle_connection, connect, share, delay)
        if isinstance(listen, int):
            server = await asyncio.start_server(handle, '127.0.0.1', listen)
            listen = server.sockets[0].getsockname()[1]
        else:
            await asyncio.start_unix_server(handle, listen)
        addresses.append(listen)
    print(json.dumps(addresses), flush=True)
    await asyncio.get_running_loop().create_future()


async def handle_connection(address, share, delay, reader, writer):
    """Connect a client to an address, until one of them disconnects."""
    try:
        if isinstance(address, int):
            server = await asyncio.open_connection('127.0.0.1', address)
        else:
            server = await asyncio.open_unix_connection(address)
    except OSError:
        writer.close()
        return
    server_reader, server_writer = server
    await asyncio.gather(
        forward(reader, server_writer, share, delay),
        forward(server_reader, writer, share, delay),
    )


async def forward(reader, writer, share, delay):
    """Forward one direction, each chunk with a share of the delay."""
    loop = asyncio.get_running_loop()
    due, data = 0.0, None
    while data != b'':
        try:
            data = await reader.read(_CHUNK)
            await writer.drain()
        except OSError:
            data = b''
        # After the previous chunk, also if the delay has become shorter.
        due = max(
            math.nextafter(due, math.inf), loop.time() + share * delay.seconds
        )
        if data:
            loop.call_at(due, writer.write, data)
        else:
            loop.call_at(due, writer.close)


def main():
    """Serve as the module says."""
    delay = types.SimpleNamespace(seconds=0.0)
    proxies = json.loads(sys.stdin.readline())

    def read_delays():
        for line in sys.stdin:
            delay.seconds = float(line) / 1000

    threading.Thread(target=read_delays, daemon=True).start()
    asyncio.run(serve(proxies, delay))


if __name__ == '__main__':
    main()
