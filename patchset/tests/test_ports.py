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

"""Tests of the check whether a port is free."""

import os
import socket

import testtools

from patchset import errors
from patchset import ports
from patchset.services import server


class PortTestCase(testtools.TestCase):
    def test_free(self):
        self.assertIsNone(ports.check(server.free_port()))

    def test_taken_by_this_program(self):
        for address in ('127.0.0.1', '0.0.0.0'):
            with socket.create_server((address, 0)) as one:
                port = one.getsockname()[1]
                error = self.assertRaises(errors.Error, ports.check, port)
            self.assertIn(f'port {port} of 127.0.0.1 is taken', str(error))
            self.assertIn(f'(process {os.getpid()})', str(error))

    def test_a_closed_connection_does_not_count(self):
        with socket.create_server(('127.0.0.1', 0)) as one:
            port = one.getsockname()[1]
            with socket.create_connection(('127.0.0.1', port)):
                connection, _ = one.accept()
                connection.close()  # this side waits for late packets
        self.assertIsNone(ports.check(port))

    def test_nobody_holds_a_free_port(self):
        self.assertIsNone(ports.holder(server.free_port()))
