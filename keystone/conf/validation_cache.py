# SPDX-License-Identifier: Apache-2.0

"""Options of the cache of token validations."""

from oslo_config import cfg

from keystone.conf import utils

validation_cache = cfg.BoolOpt(
    'validation_cache',
    default=True,
    help=utils.fmt(
        """
Keep the results of token validations, in the memory of each worker process and
encrypted in the shared cache, and reuse them while none of the cached values
they were computed from has changed. A change through Keystone, including a
revocation, takes effect on the next request. A direct change in the database
takes effect after the `cache_time` of its section, the same as without this
option. If false, each token is fully validated every time. This has no effect
unless global caching and `[token] caching` are enabled, with a `[cache]
backend` shared by all processes.
"""
    ),
)

validation_cache_size = cfg.IntOpt(
    'validation_cache_size',
    default=64 * 1024 * 1024,
    min=0,
    help=utils.fmt(
        """
Approximate maximum memory (in bytes) that each worker process uses for
validation results, and the same amount again for the catalogs returned with
them. A catalog is stored once for all tokens that share it; catalogs that
differ only in the project id are shared. Above this limit, the least recently
used entries are evicted, and read from the shared cache when needed again. If
set to 0, a process keeps no results of its own. This option does not affect
how soon a change takes effect.
"""
    ),
)

GROUP_NAME = 'token'
ALL_OPTS = [validation_cache, validation_cache_size]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
