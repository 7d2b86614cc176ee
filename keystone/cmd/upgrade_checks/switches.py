# SPDX-License-Identifier: Apache-2.0

"""Fixes that are switched off."""

from keystone.cmd.upgrade_checks import findings
import keystone.conf

CONF = keystone.conf.CONF

# (section, option, what happens while it is off)
_SWITCHES = (
    (
        'catalog',
        'in_process_size',
        'the catalog of each user and project is read from the database',
    ),
    (
        'credential',
        'decrypted_cache_time',
        'each signed request reads all credential keys and decrypts',
    ),
    (
        'revoke',
        'use_tree',
        'each validation reads revocation events from the database, and takes '
        'longer the more there are',
    ),
    ('token', 'validation_cache', 'each validation is computed anew'),
)


def check(commands):
    return findings.result(
        (
            (findings.WARNING, f'[{section}] {option} is {value}: {what}.')
            for section, option, what in _SWITCHES
            if not (value := CONF[section][option])
        ),
        'All are on.',
    )
