# SPDX-License-Identifier: Apache-2.0

"""Options of the local cache of decrypted credentials."""

from oslo_config import cfg

from keystone.conf import utils

decrypted_cache_time = cfg.IntOpt(
    'decrypted_cache_time',
    default=60,
    min=0,
    help=utils.fmt(
        """
Maximum time (in seconds) that each worker process keeps a decrypted credential
in memory, instead of reading the key files and decrypting it for each request.
Entries are keyed by the encrypted value, so that a changed credential never
matches an old entry, and all entries are dropped when a key is added or
removed. If the contents of a key file are replaced in place, credentials
encrypted with the old contents are accepted for up to this time. At most 1,000
entries of about 2 kB each are kept, and they are never stored in a shared
cache. If set to 0, decrypted credentials are not kept. This has no effect
unless global and `[credential] caching` are both enabled.
"""
    ),
)

GROUP_NAME = 'credential'
ALL_OPTS = [decrypted_cache_time]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
