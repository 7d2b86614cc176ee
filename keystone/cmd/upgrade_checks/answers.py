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

"""Whether answers to validations are kept."""

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from keystone.cmd.upgrade_checks import cache_server
from keystone.cmd.upgrade_checks import findings
from keystone.common.cache import shared
import keystone.conf
from keystone.token.validation_cache import recording

CONF = keystone.conf.CONF

# Seconds.
_LONGEST = 3600


def check(commands):
    if not shared.is_shared():
        return upgradecheck.Result(
            upgradecheck.Code.SUCCESS,
            'None are kept, since processes share no cache.',
        )
    if not cache_server.keeps():
        return upgradecheck.Result(
            upgradecheck.Code.SUCCESS,
            'Not checked: the cache does not return what it was just given.',
        )
    if CONF.cache_stamps.unpatched_nodes:
        return upgradecheck.Result(
            upgradecheck.Code.SUCCESS,
            'None are kept while unpatched nodes are expected.',
        )
    if not recording.are_backends_settled():
        return upgradecheck.Result(
            upgradecheck.Code.SUCCESS,
            'None are kept, since users, projects, roles or the catalog come '
            'from elsewhere than SQL, or change with time.',
        )
    return findings.result(_find(), 'They are kept.')


def _find():
    conf = CONF.token
    if not conf.validation_cache:
        # The switches tell.
        return
    if not recording.lifetime():
        yield (
            findings.WARNING,
            'None are kept: [token] validation_cache_time, or the cache time '
            'of a section whose values a token shows, is 0, or one of them '
            'is not cached.',
        )
    elif recording.lifetime() > _LONGEST:
        yield (
            findings.WARNING,
            f'[token] validation_cache_time is {conf.validation_cache_time}: '
            'a change that is made in the database by hand stays unseen for '
            'that many seconds.',
        )
    if not conf.validation_cache_size:
        yield (
            findings.WARNING,
            '[token] validation_cache_size is 0: there is no room for one.',
        )
    if _is_debugging():
        yield (
            findings.WARNING,
            '[DEFAULT] debug is on: while each step is logged, no answer is '
            'given again.',
        )


def _is_debugging():
    try:
        return CONF.debug
    except cfg.NoSuchOptError:
        # The command sets up no log.
        CONF.register_opt(cfg.BoolOpt('debug', default=False))
        return CONF.debug
