# SPDX-License-Identifier: Apache-2.0

"""Options of the scope of a token revocation."""

from oslo_config import cfg

from keystone.conf import utils

whole_chain = cfg.BoolOpt(
    'whole_chain',
    default=False,
    help=utils.fmt(
        """
Whether `DELETE /v3/auth/tokens` revokes all tokens of the authentication that
the given token originates from. If false, the given token is revoked and, only
if it is the first token of that authentication, the tokens rescoped from it;
tokens rescoped from an already rescoped token cannot be distinguished from the
others and remain valid until they expire. If true, every token of the
authentication is revoked, including the first one and those for other
projects, and the user has to authenticate again. Enable this if revoking a
token must leave no token that was obtained with it. This has no effect on
requests with `?cascade=false`.
"""
    ),
)

GROUP_NAME = 'revoke'
ALL_OPTS = [whole_chain]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
