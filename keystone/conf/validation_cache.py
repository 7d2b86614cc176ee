# SPDX-License-Identifier: Apache-2.0

"""Options of the records of tokens."""

from oslo_config import cfg

from keystone.conf import utils

validation_cache = cfg.BoolOpt(
    'validation_cache',
    default=True,
    help=utils.fmt(
        """
Whether what a validation has found out about a token is kept, in each worker
process and encrypted in the shared cache, and used again while each value that
it was made of is as it was. This has no effect unless global caching and
`[token] caching` are enabled, with a `[cache] backend` that all processes
share. Whatever is changed through Keystone, and each revocation, is seen by
the next request; a change that is made in the database by hand as soon as
without this, when the `cache_time` of the section is over. If false, each
token is validated anew.
"""
    ),
)

validation_cache_size = cfg.IntOpt(
    'validation_cache_size',
    default=64 * 1024 * 1024,
    min=0,
    help=utils.fmt(
        """
How much memory (in bytes) each worker process uses for what it knows of
tokens, about; and as much at the most for the catalogs shown with them. A
catalog counts once for all tokens that share it; catalogs that differ in
nothing but the project's id are shared. When there is more, what was used
longest ago is forgotten, and taken from the shared cache when it is needed
again. It has no effect on how long a change stays unseen.
"""
    ),
)

GROUP_NAME = 'token'
ALL_OPTS = [validation_cache, validation_cache_size]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
