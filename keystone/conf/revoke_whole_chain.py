# SPDX-License-Identifier: Apache-2.0

"""Options of what revoking a token revokes."""

from oslo_config import cfg

from keystone.conf import utils

whole_chain = cfg.BoolOpt(
    'whole_chain',
    default=False,
    help=utils.fmt(
        """
What `DELETE /v3/auth/tokens` revokes besides the token it is given. If false,
the tokens rescoped from it, but only when it is the first token of a sign-in:
tokens rescoped from an already rescoped token cannot be told apart from the
other tokens of that sign-in, and stay valid until they expire. If true, every
token of the sign-in, the first one and those for other projects included, so
that the user has to authenticate again. This has no effect on requests with
`?cascade=false`. Set it to true if whoever revokes a token must be sure that
nothing obtained with it is left.
"""
    ),
)

GROUP_NAME = 'revoke'
ALL_OPTS = [whole_chain]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
