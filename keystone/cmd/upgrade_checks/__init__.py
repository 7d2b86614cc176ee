# SPDX-License-Identifier: Apache-2.0

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
