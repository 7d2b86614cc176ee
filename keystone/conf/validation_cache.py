# SPDX-License-Identifier: Apache-2.0

"""Options of the cache of token validations."""

from oslo_config import cfg

from keystone.conf import utils

validation_cache_size = cfg.IntOpt(
    'validation_cache_size',
    default=64 * 1024 * 1024,
    min=0,
    help=utils.fmt(
        """
Approximate maximum memory (in bytes) that each worker process uses for the
results of token validations. The results are also kept encrypted in the shared
cache, and are reused while none of the cached values they were computed from
has changed. A change through Keystone, including a revocation, takes effect on
the next request. A direct change in the database takes effect after the
`cache_time` of its section, the same as without this option. Catalogs are not
part of the results; see `[catalog] in_process_size`. Above this limit, the
least recently used results are evicted, and read from the shared cache when
needed again. If set to 0, each token is fully validated every time. This has
no effect unless global caching is enabled, with a `[cache] backend` shared by
all processes, and `caching` in `[federation]`, `[identity]`, `[resource]`,
`[role]` and `[token]`, whose values are not cached for 0 seconds.
"""
    ),
)

GROUP_NAME = 'token'
ALL_OPTS = [validation_cache_size]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
