# SPDX-License-Identifier: Apache-2.0

"""Selection of the chain that is revoked with a token.

A token contains its own audit id and that of the first token of its chain, the
root, but not that of the token it was rescoped from.
"""

import keystone.conf

CONF = keystone.conf.CONF


def revoked_root(token):
    """Find the root of the chain that is revoked with a token.

    :param token: a TokenModel
    :returns: audit id of the token itself, if it is the root of its chain;
        None if it was rescoped, since no token has it as its root; with
        ``[revoke] whole_chain``, the root of its chain in either case
    """
    if token.parent_audit_id:
        return token.parent_audit_id if CONF.revoke.whole_chain else None
    return token.audit_id
