# SPDX-License-Identifier: Apache-2.0

"""Which chain of tokens is revoked together with one of them.

A token names itself and the first token of its chain, its root. Whether
another token of the chain was rescoped from it cannot be told.
"""

import keystone.conf

CONF = keystone.conf.CONF


def revoked_root(token):
    """Find the root of the chain that is revoked with a token.

    :param token: a TokenModel
    :returns: audit id of the token itself, if it is the root of its chain;
        None if it was rescoped, since no token names it as its root then;
        with ``[revoke] whole_chain``, the root of its chain in either case
    """
    if token.parent_audit_id:
        return token.parent_audit_id if CONF.revoke.whole_chain else None
    return token.audit_id
