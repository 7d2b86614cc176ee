# SPDX-License-Identifier: Apache-2.0

"""``keystone-status`` checks for settings that defeat this patch set.

They read the configuration and contact the cache servers, but not the
database. A warning is a setting that costs performance or weakens a bound
during failures. A failure is one with which revoked or disabled entities are
accepted even while all services work.
"""

from keystone.cmd.upgrade_checks import answers
from keystone.cmd.upgrade_checks import cache_server
from keystone.cmd.upgrade_checks import lifetimes
from keystone.cmd.upgrade_checks import revocation
from keystone.cmd.upgrade_checks import switches

#: As in ``oslo_upgradecheck.upgradecheck.UpgradeCommands``: (name, check).
CHECKS = (
    ('Shared cache', cache_server.check),
    ('Lifetimes of cached values', lifetimes.check),
    ('Revocation events', revocation.check),
    ('Validation cache', answers.check),
    ('Disabled features', switches.check),
)
