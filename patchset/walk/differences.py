# SPDX-License-Identifier: Apache-2.0

"""Differences between stock and patched Keystone that are meant.

Each stands for a topic: stock answers wrongly there, without any cache.
"""

_READER = "Can't upgrade a READER transaction to a WRITER"
_REFUSED = (401, 404)


class Known:
    """Tells the differences that a story explains."""

    def __init__(self):
        self._told = set()  # names of operations
        self._federated = set()  # names of tokens, with those made of them

    def note(self, step):
        """Take a step of the story into account."""
        self._told.add(step.operation)
        arguments = step.arguments
        if (
            step.operation == 'sign_in_federated'
            or arguments.get('source') in self._federated
        ):
            self._federated.add(arguments['token'])

    def topic(self, difference):
        """Name of the topic that explains a difference, or None.

        :param difference: an :class:`patchset.walk.answers.Difference` whose
            first answer is stock's
        """
        stock, patched = difference.first, difference.second
        if None in (stock, patched):
            return None
        # Stock fails at an association that a deleted service left behind.
        if {'add_endpoint', 'delete_service'} <= self._told and (
            _READER in str(stock)
        ):
            return 'service-deleted'
        # Stock has the audit id of a federated token's parent nowhere, and
        # does not revoke the one with the other.
        if difference.about.names & self._federated and (
            patched[0] in _REFUSED
            or _without_audit_ids(stock) == _without_audit_ids(patched)
        ):
            return 'federated-token-chain'
        return None


def _without_audit_ids(answer):
    status, body = answer
    if isinstance(body, dict) and 'token' in body:
        token = {k: v for k, v in body['token'].items() if k != 'audit_ids'}
        body = {**body, 'token': token}
    return status, body
