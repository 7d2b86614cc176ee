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

"""Fixes that are switched off."""

from keystone.cmd.upgrade_checks import findings
import keystone.conf

CONF = keystone.conf.CONF

# (section, option, what happens while it is off)
_SWITCHES = (
    (
        'catalog',
        'in_process',
        'the catalog of each user and project is read from the database',
    ),
    (
        'credential',
        'cache_decrypted',
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
            (findings.WARNING, f'[{section}] {option} is off: {what}.')
            for section, option, what in _SWITCHES
            if not CONF[section][option]
        ),
        'All are on.',
    )
