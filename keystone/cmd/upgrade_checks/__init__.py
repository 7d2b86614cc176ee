# SPDX-License-Identifier: Apache-2.0

"""``keystone-status`` checks for settings that defeat this patch set.

They read the configuration and contact the cache servers, but not the
database. A warning is a setting that costs performance or weakens a bound
during failures. A failure is one with which revoked or disabled entities are
accepted even while all services work.
"""

from keystone.cmd.upgrade_checks import settings

#: As in ``oslo_upgradecheck.upgradecheck.UpgradeCommands``: (name, check).
CHECKS = (
    ('Shared cache', settings.shared_cache),
    ('Lifetimes of cached values', settings.lifetimes),
    ('Revocation events', settings.revocation_events),
    ('Validation cache', settings.validation_cache),
    ('Disabled features', settings.disabled_features),
)
