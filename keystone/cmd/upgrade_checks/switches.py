# SPDX-License-Identifier: Apache-2.0

"""Disabled features of the patch set."""

from keystone.cmd.upgrade_checks import findings
import keystone.conf

CONF = keystone.conf.CONF

# (section, option, effect of disabling it)
_SWITCHES = (
    (
        'catalog',
        'in_process_size',
        'the catalog of each user and project is read from the database',
    ),
    (
        'revoke',
        'max_events_in_memory',
        'each validation reads revocation events from the database, which '
        'takes longer the more there are',
    ),
    ('token', 'validation_cache_size', 'each validation is fully computed'),
)


def check(commands):
    return findings.result(
        (
            (findings.WARNING, f'[{section}] {option} is {value}: {what}.')
            for section, option, what in _SWITCHES
            if not (value := CONF[section][option])
        ),
        'All features are enabled.',
    )
