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

"""Fixes that are switched off, and what is switched on for a while."""

from keystone.cmd.upgrade_checks import findings
import keystone.conf

CONF = keystone.conf.CONF

# (section, option, what happens while it is off)
_SWITCHES = (
    (
        'cache',
        'expire_in_backend',
        'values stay in the cache servers until these need the memory',
    ),
    (
        'cache',
        'survive_failures',
        'an invalidation that the cache does not take is lost, and a server '
        'that comes back brings old values along',
    ),
    (
        'cache_stamps',
        'together',
        'the ids of the cache regions are read one by one, and no copies and '
        'no answers are kept',
    ),
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
        'process_cache',
        'enabled',
        'each value in each request is asked of the cache servers',
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


def check_unpatched_nodes(commands):
    found = []
    if CONF.cache_stamps.unpatched_nodes:
        found.append(
            (
                findings.WARNING,
                '[cache_stamps] unpatched_nodes is on: each revocation '
                'empties the token cache, and processes keep no copies and '
                'no answers. Take it out once no unpatched process is left.',
            )
        )
    return findings.result(
        found,
        'None are expected. While one uses the same cache servers, set '
        '[cache_stamps] unpatched_nodes on the patched nodes.',
    )
