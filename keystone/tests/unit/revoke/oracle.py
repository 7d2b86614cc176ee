# SPDX-License-Identifier: Apache-2.0

"""The meaning of revocation events, spelled out and slow.

Nothing here is shared with the code under test.
"""

_EXACT = (
    'project_id',
    'trust_id',
    'consumer_id',
    'access_token_id',
    'audit_id',
)


def whole(moment):
    """A datetime without its fraction of a second."""
    return moment.replace(microsecond=0)


def revokes(event, token):
    """Tell whether one event revokes a token."""
    if event.role_id is not None and event.role_id not in token['roles']:
        return False

    users = {token['user_id'], token['trustor_id'], token['trustee_id']}
    if event.user_id is not None and event.user_id not in users:
        return False

    for name in _EXACT:
        wanted = getattr(event, name)
        if wanted is not None and wanted != token[name]:
            return False

    is_root = token['audit_chain_id'] is None
    chain = token['audit_id'] if is_root else token['audit_chain_id']
    if event.audit_chain_id is not None and event.audit_chain_id != chain:
        return False

    scope = None
    if token['project_id'] is None:
        scope = token['assignment_domain_id']
    if event.domain_id is not None:
        if event.expires_at is not None:
            domains = {scope}
        else:
            domains = {
                token['identity_domain_id'],
                token['assignment_domain_id'],
            }
        if event.domain_id not in domains:
            return False

    if event.expires_at is not None:
        if token['expires_at'] is None:
            return False
        if whole(event.expires_at) != whole(token['expires_at']):
            return False

    return whole(event.issued_before) >= whole(token['issued_at'])


def identity(event):
    """What two events have in common when one replaces the other."""
    return (
        event.user_id,
        event.domain_id,
        event.role_id,
        event.audit_chain_id,
        event.expires_at and whole(event.expires_at),
        *(getattr(event, name) for name in _EXACT),
    )


class Oracle:
    """Every live event in a list, each asked about each token."""

    def __init__(self):
        self.events = []

    def add(self, event):
        self.events.append(event)

    def expire(self, cutoff):
        """Drop the events none of whose like was revoked at or past cutoff."""
        alive = {
            identity(event)
            for event in self.events
            if event.revoked_at >= cutoff
        }
        self.events = [e for e in self.events if identity(e) in alive]

    def is_revoked(self, token):
        return any(revokes(event, token) for event in self.events)

    def __len__(self):
        return len({identity(event) for event in self.events})
