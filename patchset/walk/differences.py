# SPDX-License-Identifier: Apache-2.0

"""Differences between stock and patched Keystone that are meant.

Each stands for a topic: stock answers wrongly there, without any cache.
"""

_REFUSED = (401, 404)
_OF_CHAINS = ('revoke', 'revoke_own')  # operations that revoke a chain
# Operations after which tokens of an identity provider are rejected.
_OF_PROVIDERS = ('disable_provider', 'delete_protocol', 'delete_provider')


class Known:
    """Tells the differences that a story explains."""

    def __init__(self):
        # {name of a federated token, or of one made of it: the first one's}
        self._chains = {}
        self._revoked = set()  # names of first ones, of revoked chains
        self._providers = {}  # {name of a first one: its identity provider's}
        self._ended = set()  # names of identity providers

    def note(self, step):
        """Take a step of the story into account."""
        token = step.arguments.get('token')
        if step.operation == 'sign_in_federated':
            self._chains[token] = token
            self._providers[token] = step.arguments.get('provider')
        elif step.operation in _OF_PROVIDERS:
            self._ended.add(step.arguments['provider'])
        elif step.arguments.get('source') in self._chains:
            self._chains[token] = self._chains[step.arguments['source']]
        elif step.operation in _OF_CHAINS and token in self._chains:
            self._revoked.add(self._chains[token])

    def topic(self, difference):
        """Name of the topic that explains a difference, or None.

        :param difference: an :class:`patchset.walk.answers.Difference` whose
            first answer is stock's
        """
        stock, patched = difference.first, difference.second
        if None in (stock, patched):
            return None
        # Stock has the audit id of a federated token's parent nowhere, and
        # does not revoke the one with the other.
        tokens = difference.about.names & self._chains.keys()
        roots = {self._chains[token] for token in tokens}
        if (patched[0] in _REFUSED and roots & self._revoked) or (
            tokens - roots
            and _without_audit_ids(stock) == _without_audit_ids(patched)
        ):
            return 'federated-token-chain'
        # Stock goes on accepting tokens of a provider that is disabled, and
        # of one that a protocol was deleted of.
        if patched[0] in _REFUSED and self._ended & {
            self._providers[root] for root in roots
        }:
            return 'idp-revocation'
        return None


def _without_audit_ids(answer):
    status, body = answer
    if isinstance(body, dict) and 'token' in body:
        token = {k: v for k, v in body['token'].items() if k != 'audit_ids'}
        body = {**body, 'token': token}
    return status, body
