# SPDX-License-Identifier: Apache-2.0

"""Whether the validation cache is effective."""

from oslo_config import cfg

from keystone.cmd.upgrade_checks import cache_server
from keystone.cmd.upgrade_checks import findings
from keystone.common.cache import shared
import keystone.conf

CONF = keystone.conf.CONF


def check(commands):
    if not shared.is_shared():
        return findings.result(
            (),
            'Validation results are not kept: no shared cache is configured.',
        )
    if not cache_server.keeps():
        return findings.result(
            (), 'Not checked: the cache does not return a value just stored.'
        )
    return findings.result(_find(), 'Validation results are kept.')


def _find():
    conf = CONF.token
    if not conf.validation_cache_size:
        # Reported by the check of disabled features.
        return
    if not conf.caching:
        yield (
            findings.WARNING,
            'Validation results are not kept: [token] caching is off.',
        )
    if _is_debugging():
        yield (
            findings.WARNING,
            '[DEFAULT] debug is on: validation results are not reused, since '
            'each validation is logged in full.',
        )


def _is_debugging():
    try:
        return CONF.debug
    except cfg.NoSuchOptError:
        # The command does not set up logging.
        CONF.register_opt(cfg.BoolOpt('debug', default=False))
        return CONF.debug
