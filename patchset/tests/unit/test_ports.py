# SPDX-License-Identifier: Apache-2.0

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
            self.assertIn(f'port {port} of 127.0.0.1 is in use', str(error))
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
