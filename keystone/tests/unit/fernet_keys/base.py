# SPDX-License-Identifier: Apache-2.0

"""What the tests of Fernet keys have in common."""

import logging

import fixtures

from keystone.tests import unit
from keystone.tests.unit.fernet_keys import world


class KeysTestCase(unit.TestCase):
    #: where the temporary folder is, or None
    rootdir: str | None = None

    def setUp(self):
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir(self.rootdir)).path
        self.config_fixture.config(group='revoke', longest_token_lifetime=0)
        # Each key that is read or rotated is a line.
        logger = logging.getLogger('keystone.common.fernet_utils')
        self.addCleanup(logger.setLevel, logger.level)
        logger.setLevel(logging.ERROR)

    def world(self, *args, **kwargs):
        """Nodes with keys; see :class:`world.World`."""
        return world.World(
            self.config_fixture.config, self.folder, *args, **kwargs
        )
