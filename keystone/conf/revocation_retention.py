# SPDX-License-Identifier: Apache-2.0

"""Options of the retention of revocation events."""

from oslo_config import cfg

from keystone.conf import utils

longest_token_lifetime = cfg.IntOpt(
    'longest_token_lifetime',
    default=48 * 60 * 60,
    min=0,
    help=utils.fmt(
        """
Maximum `[token] expiration` (in seconds) of any token that users may still
hold. Revocation events are kept for this time, or for `[token] expiration` if
it is longer, plus `[token] allow_expired_window` and `[revoke]
expiration_buffer`. If you lower `[token] expiration` from a value that exceeds
this option, set this option to the earlier value until the old tokens and
their window have expired; otherwise, revoked tokens become valid again. Lower
values keep fewer events.
"""
    ),
)

GROUP_NAME = 'revoke'
ALL_OPTS = [longest_token_lifetime]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
