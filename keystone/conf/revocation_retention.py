# SPDX-License-Identifier: Apache-2.0

"""Options of how long revocation events are kept."""

from oslo_config import cfg

from keystone.conf import utils

longest_token_lifetime = cfg.IntOpt(
    'longest_token_lifetime',
    default=48 * 60 * 60,
    min=0,
    help=utils.fmt(
        """
The longest `[token] expiration` (in seconds) that may still be found in tokens
users hold. Revocation events are kept for this long, or for `[token]
expiration` when that is longer, plus `[token] allow_expired_window`, plus
`[revoke] expiration_buffer`. If `[token] expiration` has ever been higher than
this and you lower it, set this option to the earlier value until the old
tokens and their window have passed; otherwise revoked tokens become valid
again. A lower value keeps fewer events.
"""
    ),
)

GROUP_NAME = 'revoke'
ALL_OPTS = [longest_token_lifetime]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
