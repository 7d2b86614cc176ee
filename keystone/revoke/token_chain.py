# SPDX-License-Identifier: Apache-2.0

"""Revocation events for the chain that is revoked with a token.

A token contains its own audit id and that of the first token of its chain, the
root, but not that of the token it was rescoped from.
"""

import keystone.conf
from keystone.models import revoke_model
from keystone.revoke import token_events

CONF = keystone.conf.CONF


def events(token):
    """Create the events that revoke the chain of a token.

    :param token: a TokenModel
    :returns: list of RevokeEvent; empty if the token was rescoped, since no
        token has it as its root, unless ``[revoke] whole_chain`` is enabled
    """
    chain = token_events.of_chain(token)
    root = token.parent_audit_id
    if not root:
        return [chain]
    if not CONF.revoke.whole_chain:
        return []
    chain.audit_chain_id = root
    # Nodes of an earlier release do not match the root with its own chain.
    return [
        revoke_model.RevokeEvent(
            audit_id=root, issued_before=chain.issued_before
        ),
        chain,
    ]
