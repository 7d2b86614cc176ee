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

"""What the tests of Fernet keys have in common."""

import logging

import fixtures

from keystone.tests import unit
from keystone.tests.unit.fernet_keys import world


class KeysTestCase(unit.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir()).path
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
