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

"""A cache that other processes use as well, as far as Keystone can tell."""

import fixtures
from oslo_utils import importutils

from keystone.common.cache import id_note
from keystone.revoke import core

# Of a later topic: callers that need not be validated.
_known_callers = importutils.try_import('keystone.token.known_callers')


def forget_callers():
    """Have each caller validated by its next request."""
    if _known_callers is not None:
        _known_callers.CALLERS.clear()


class SharedCache(fixtures.Fixture):
    """Names a shared backend, and begins with no revocation.

    The regions keep the in-process backend that they were made with.

    :param config: the :class:`oslo_config.fixture.Config` of the test
    """

    def __init__(self, config):
        super().__init__()
        self._config = config

    def _setUp(self):
        self._config.config(group='cache', backend='dogpile.cache.memcached')
        # Nobody waits for the row of another test's revocation.
        id_note.forget()
        core.REVOKE_REGION.invalidate()
