# SPDX-License-Identifier: Apache-2.0

"""Intended differences between stock and patched Keystone.

Each is due to a topic: the response of stock is wrong, without any cache.
"""

import http.client

_REJECTED = (401, 404)
_CHAIN_REVOCATIONS = ('revoke', 'revoke_own')
# Operations after which tokens of an identity provider are rejected.
_PROVIDER_REVOCATIONS = (
    'disable_provider',
    'delete_protocol',
    'delete_provider',
)


class KnownDifferences:
    """Finds the topics of differences, given the previous steps.

    :param topics: names of the topics of the release
    """

    def __init__(self, topics):
        self._topics = topics
        self._roots = {}  # {name of a token: first token that it is from}
        self._origins = {}  # {name of a first token: its step}
        self._revoked = set()  # names of first tokens of revoked chains
        self._revoked_providers = set()  # names

    def record(self, step):
        """Record a step of the walk."""
        token = step.arguments.get('token')
        if step.operation in _PROVIDER_REVOCATIONS:
            self._revoked_providers.add(step.arguments['provider'])
        elif token in self._roots:
            if step.operation in _CHAIN_REVOCATIONS:
                self._revoked.add(self._roots[token])
        elif token:
            source = step.arguments.get('source')
            self._roots[token] = self._roots.get(source, source) or token
            self._origins.setdefault(self._roots[token], step)

    def topic(self, difference):
        """Name of the topic that explains a difference, or None.

        :param difference: an :class:`patchset.walk.answers.Difference` whose
            first answer is stock's
        """
        if None in (difference.first, difference.second):
            return None
        found = self._explaining(difference)
        return next((name for name in found if name in self._topics), None)

    def _explaining(self, difference):
        patched, _ = difference.second
        tokens = difference.subject.names & self._roots.keys()
        roots = {self._roots[token] for token in tokens}
        federated = {
            one for one in roots if self._is(one, 'sign_in_federated')
        }
        # Stock does not store the audit id of a federated token's parent, and
        # does not revoke both together.
        if (patched in _REJECTED and federated & self._revoked) or (
            any(self._roots[token] in federated for token in tokens - roots)
            and _equal_without('audit_ids', difference)
        ):
            yield 'federated-token-chain'
        # Stock still accepts tokens of a disabled provider, and of one whose
        # protocol was deleted.
        if patched in _REJECTED and self._revoked_providers & {
            self._origins[root].arguments.get('provider') for root in federated
        }:
            yield 'idp-revocation'
        # Before 30.0.0, stock revokes a token without those derived from it,
        if patched in _REJECTED and roots & self._revoked:
            yield 'revoke-derived-tokens'
        # and forgets that a token is of an EC2 credential, for which some
        # requests are forbidden.
        if any(self._is(root, 'use_key') for root in roots) and (
            patched == http.client.FORBIDDEN
            or _equal_without('methods', difference)
        ):
            yield 'ec2-token-methods'

    def _is(self, root, operation):
        return self._origins[root].operation == operation


def _equal_without(name, difference):
    """Whether the responses are equal without an attribute of the token."""
    return _without(name, difference.first) == _without(
        name, difference.second
    )


def _without(name, answer):
    status, body = answer
    if isinstance(body, dict) and 'token' in body:
        token = {k: v for k, v in body['token'].items() if k != name}
        body = {**body, 'token': token}
    return status, body
