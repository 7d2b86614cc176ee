# SPDX-License-Identifier: Apache-2.0

"""Intended differences between stock and patched Keystone.

Each is due to a topic: the response of stock is wrong, without any cache.
"""

_REJECTED = (401, 404)
_CHAIN_REVOCATIONS = ('revoke', 'revoke_own')
# Operations after which tokens of an identity provider are rejected.
_PROVIDER_REVOCATIONS = (
    'disable_provider',
    'delete_protocol',
    'delete_provider',
)


class KnownDifferences:
    """Finds the topics of differences, given the previous steps."""

    def __init__(self):
        # {name of a token: name of the federated token that it is from}
        self._roots = {}
        self._revoked = set()  # names of first tokens of revoked chains
        self._providers = {}  # {name of a first token: its identity provider}
        self._revoked_providers = set()  # names

    def record(self, step):
        """Record a step of the walk."""
        token = step.arguments.get('token')
        if step.operation == 'sign_in_federated':
            self._roots[token] = token
            self._providers[token] = step.arguments.get('provider')
        elif step.operation in _PROVIDER_REVOCATIONS:
            self._revoked_providers.add(step.arguments['provider'])
        elif step.arguments.get('source') in self._roots:
            self._roots[token] = self._roots[step.arguments['source']]
        elif step.operation in _CHAIN_REVOCATIONS and token in self._roots:
            self._revoked.add(self._roots[token])

    def topic(self, difference):
        """Name of the topic that explains a difference, or None.

        :param difference: an :class:`patchset.walk.answers.Difference` whose
            first answer is stock's
        """
        stock, patched = difference.first, difference.second
        if None in (stock, patched):
            return None
        # Stock does not store the audit id of a federated token's parent, and
        # does not revoke both together.
        tokens = difference.subject.names & self._roots.keys()
        roots = {self._roots[token] for token in tokens}
        if (patched[0] in _REJECTED and roots & self._revoked) or (
            tokens - roots
            and _without_audit_ids(stock) == _without_audit_ids(patched)
        ):
            return 'federated-token-chain'
        # Stock still accepts tokens of a disabled provider, and of one whose
        # protocol was deleted.
        if patched[0] in _REJECTED and self._revoked_providers & {
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
