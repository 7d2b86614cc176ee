# SPDX-License-Identifier: Apache-2.0

"""Whether what validations find out about tokens is kept."""

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from keystone.cmd.upgrade_checks import cache_server
from keystone.cmd.upgrade_checks import findings
from keystone.common.cache import shared
import keystone.conf

CONF = keystone.conf.CONF


def check(commands):
    if not shared.is_shared():
        return upgradecheck.Result(
            upgradecheck.Code.SUCCESS,
            'Nothing is kept, since processes share no cache.',
        )
    if not cache_server.keeps():
        return upgradecheck.Result(
            upgradecheck.Code.SUCCESS,
            'Not checked: the cache does not return what it was just given.',
        )
    return findings.result(_find(), 'It is kept.')


def _find():
    conf = CONF.token
    if not conf.validation_cache:
        # The switches tell.
        return
    if not conf.caching:
        yield (findings.WARNING, 'Nothing is kept: [token] caching is off.')
    if not conf.validation_cache_size:
        yield (
            findings.WARNING,
            '[token] validation_cache_size is 0: processes have no room for '
            'any of it.',
        )
    if _is_debugging():
        yield (
            findings.WARNING,
            '[DEFAULT] debug is on: while each step is logged, each token is '
            'validated anew.',
        )


def _is_debugging():
    try:
        return CONF.debug
    except cfg.NoSuchOptError:
        # The command sets up no log.
        CONF.register_opt(cfg.BoolOpt('debug', default=False))
        return CONF.debug
