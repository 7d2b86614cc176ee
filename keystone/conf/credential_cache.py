# SPDX-License-Identifier: Apache-2.0

"""Options of decrypted credentials that are kept."""

from oslo_config import cfg

from keystone.conf import utils

decrypted_cache_time = cfg.IntOpt(
    'decrypted_cache_time',
    default=60,
    min=0,
    help=utils.fmt(
        """
Maximum time (in seconds) that each worker process keeps a decrypted credential
in its memory, instead of reading the key files and decrypting for each
request. It is found by what was decrypted, so a credential that has changed is
never mistaken for the old one, and all are dropped when a key is added or
removed. If the contents of a key file are replaced in place, this is the
longest time that what it has encrypted is still accepted. At most 1,000 are
kept, of some 2 kB each; they are never put into a cache that processes share.
With 0, none is kept. This has no effect unless global and `[credential]
caching` are both enabled.
"""
    ),
)

GROUP_NAME = 'credential'
ALL_OPTS = [decrypted_cache_time]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
