# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

import socket
import threading

import memcache

from keystone.common.cache import stored_values
from keystone.tests import unit

_KEYS = ('a', 'b')


def _answer(**values):
    lines = [
        f'VALUE {key} 0 {len(value)}\r\n{value}\r\n'
        for key, value in values.items()
    ]
    return ''.join((*lines, 'END\r\n')).encode()


class _Server(threading.Thread):
    """Answers each command with the next of some lists of pieces.

    :param answers: for each command, a list of bytes; each is sent when the
        client has had time to read what was sent before
    """

    def __init__(self, answers):
        super().__init__(daemon=True)
        self._answers = answers
        self._socket = socket.create_server(('127.0.0.1', 0))
        port = self._socket.getsockname()[1]
        self.address = f'127.0.0.1:{port}'
        self.gap = threading.Event()

    def run(self):
        connection, _ = self._socket.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, self._socket:
            for pieces in self._answers:
                if not connection.recv(4096):
                    return
                for piece in pieces:
                    connection.sendall(piece)
                    self.gap.wait(0.05)
            # The connection ends without an answer to the last command.
            connection.recv(4096)


class StoredAnswersTests(unit.BaseTestCase):
    """Answers of memcached that are compared before they are taken apart."""

    def read(self, *answers):
        """Read once for each answer; lists of the values."""
        server = _Server(answers)
        server.start()
        client = memcache.Client([server.address], socket_timeout=5)
        self.addCleanup(client.disconnect_all)
        found = [stored_values._ask(client, _KEYS) for _ in answers]
        self.after = stored_values._ask(client, _KEYS)
        return found

    def values(self, items):
        return [item and item.data.removesuffix(b'\r\n') for item in items]

    def test_same_again(self):
        first, second = self.read(
            [_answer(a='1', b='2')], [_answer(a='1', b='2')]
        )

        self.assertEqual([b'1', b'2'], self.values(first))
        for one, other in zip(first, second):
            self.assertIs(one, other)

    def test_same_in_pieces(self):
        whole = _answer(a='1', b='2')
        found = self.read(
            [whole], *([whole[:at], whole[at:]] for at in range(1, len(whole)))
        )

        for items in found:
            self.assertEqual(found[0], items)

    def test_another_in_pieces(self):
        other = _answer(a='1', b='3')
        found = self.read(
            [_answer(a='1', b='2')],
            *([other[:at], other[at:]] for at in range(1, len(other), 3)),
        )

        for items in found[1:]:
            self.assertEqual([b'1', b'3'], self.values(items))

    def test_less_and_more(self):
        found = self.read(
            [_answer(a='1', b='2')],
            [_answer(a='1')],
            [_answer()],
            [_answer()],
            [_answer(a='1')],
            [_answer(a='1', b='2')],
        )

        self.assertEqual(
            [
                [b'1', b'2'],
                [b'1', None],
                [None, None],
                [None, None],
                [b'1', None],
                [b'1', b'2'],
            ],
            [self.values(items) for items in found],
        )

    def test_value_that_looks_like_an_end(self):
        found = self.read(
            [_answer(a='1')],
            [_answer(a='1\r\nEND\r\n', b='2')],
            [_answer(a='1')],
        )

        self.assertEqual(
            [[b'1', None], [b'1\r\nEND\r\n', b'2'], [b'1', None]],
            [self.values(items) for items in found],
        )

    def test_connection_that_ends(self):
        self.read([_answer(a='1', b='2')])

        self.assertEqual([None, None], self.after)
