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

"""Checks of ``keystone-status`` for settings that defeat this patch set.

They read the configuration, and ask the cache servers; none of them asks the
database. A warning is a setting that gives away speed, or bounds what happens
in a failure worse than need be. A failure lets through, with everything
working, what has been revoked or disabled.
"""

from keystone.cmd.upgrade_checks import answers
from keystone.cmd.upgrade_checks import cache_server
from keystone.cmd.upgrade_checks import lifetimes
from keystone.cmd.upgrade_checks import revocation
from keystone.cmd.upgrade_checks import switches

#: As in ``oslo_upgradecheck.upgradecheck.UpgradeCommands``: (name, check).
CHECKS = (
    ('Cache that processes share', cache_server.check),
    ('Lifetimes of cached values', lifetimes.check),
    ('Revocation events', revocation.check),
    ('Answers to validations', answers.check),
    ('Switches of fixes', switches.check),
)
