# SPDX-License-Identifier: Apache-2.0

"""TCP proxies that add a delay, as a long-distance connection does.

The first line on standard input is a JSON list of proxies: [place to listen
on, place to connect to, whether it has the delay]. A place is a port of
127.0.0.1, 0 for a free one, or the path of a Unix socket, which connects two
network namespaces. The response is the list of the places on which they
listen. Each further line is a number of milliseconds, by which each chunk of
bytes is delayed from then on, in order and in both directions. Multiple chunks
can be in transit, so that the delay does not limit the bandwidth.
"""

import asyncio
import functools
import json
import socket
import sys
import threading

_CHUNK = 65536  # bytes
_UNDER_WAY = 1024  # chunks of a connection, in one direction


class Line:
    """How late everything is, in seconds."""

    def __init__(self):
        self.late = 0.0


async def serve(proxies, long):
    """Hand on what comes in, for ever.

    :param proxies: list of (place, place, whether it is long)
    :param long: the :class:`Line` that says how long
    """
    short = Line()
    places = []
    for where, to, is_long in proxies:
        line = long if is_long else short
        server = await _listen(where, functools.partial(lead, to, line))
        if isinstance(where, int):
            where = server.sockets[0].getsockname()[1]
        places.append(where)
    print(json.dumps(places), flush=True)
    await asyncio.get_running_loop().create_future()


async def lead(to, line, reader, writer):
    """Lead one connection to a place, until one of its ends closes it."""
    try:
        other, target = await _connect(to)
    except OSError:
        writer.close()
        return
    await asyncio.gather(
        hand_on(reader, target, line), hand_on(other, writer, line)
    )


async def hand_on(reader, writer, line):
    """Write what is read, each chunk as late as the line says."""
    connection = writer.get_extra_info('socket')
    if connection.family == socket.AF_INET:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    loop = asyncio.get_running_loop()
    chunks = asyncio.Queue(_UNDER_WAY)

    async def read():
        try:
            while data := await reader.read(_CHUNK):
                await chunks.put((loop.time() + line.late, data))
        except OSError:
            pass
        await chunks.put((loop.time() + line.late, b''))

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


async def _listen(where, connected):
    if isinstance(where, int):
        return await asyncio.start_server(connected, '127.0.0.1', where)
    return await asyncio.start_unix_server(connected, where)


async def _connect(to):
    if isinstance(to, int):
        return await asyncio.open_connection('127.0.0.1', to)
    return await asyncio.open_unix_connection(to)


def _obey(line):
    """Do as standard input says, until its end."""
    for words in sys.stdin:
        line.late = float(words) / 1000


def main():
    """Serve as the module says."""
    long = Line()
    proxies = json.loads(sys.stdin.readline())
    threading.Thread(target=_obey, args=(long,), daemon=True).start()
    asyncio.run(serve(proxies, long))


if __name__ == '__main__':
    main()
