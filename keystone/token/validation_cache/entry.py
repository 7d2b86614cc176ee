# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What an answer rested on, kept with the answer."""

from keystone.token.validation_cache import unchanged_facts


class Entry:
    """An answer, and what must be unchanged for it to be given again.

    :param look: the :class:`.Look` before the answer was made
    :param policy: the :class:`~.policy_state.State` that allowed it
    :param answer: an :class:`~keystone.token.validation_cache.answer.Answer`
    :param tokens: revocation values of the caller's token and of the
        subject's, one if they are the same
    :param until: naive UTC datetime from which on it no longer holds
    :param replica: the :class:`~keystone.revoke.replica.EventReplica` that
        knows which tokens are revoked
    :param facts: what :meth:`keystone.common.cache.facts.Trace.facts` gave of
        it
    """

    __slots__ = (
        'answer', 'began', 'cleared', 'facts', 'made', 'policy', 'replica',
        'stamps', 'tokens', 'until',
    )  # fmt: skip

    def __init__(self, look, policy, answer, tokens, until, replica, facts):
        self.answer = answer
        self.facts = facts
        self.began = look.began
        # Number of the sync by whose events its tokens are not revoked.
        self.cleared = None
        self.made = look.now
        self.policy = policy
        self.replica = replica
        self.stamps = look.stamps
        self.tokens = tokens
        self.until = until

    def flaw(self, look, events=None):
        """Tell what keeps the answer from being given now.

        :param look: the :class:`.Look` of a request
        :param events: :class:`~keystone.revoke.tree.RevocationTree` with all
            events up to the look; None if there is none at hand
        :returns: a reason in one word, or None
        """
        if look.now >= self.until:
            return 'expired'
        if look.now < self.made and look.began > self.began:
            # A clock that went back proves nothing.
            return 'clock'
        if self.stamps is not look.stamps and self.stamps != look.stamps:
            if not self._has_same_facts(look.stamps):
                return 'changed'
            # The facts were compared after these had been read.
            self.stamps = look.stamps
        ours, now = self.policy, look.policy
        if ours.rules is not now.rules or ours.files != now.files:
            return 'policy'
        if events is not None:
            return self._revoked_by(events)
        view = self.replica.view_in_step(look.stamps.revocation)
        if view is None:
            return 'events'
        if view.number == self.cleared:
            return None
        flaw = self._revoked_by(view.copy.tree)
        if flaw is None:
            self.cleared = view.number
        return flaw

    def _has_same_facts(self, stamps):
        return (
            self.facts is not None
            and self.stamps.differs_in_single_values(stamps)
            and unchanged_facts.COMPARED.are_same(self.facts, stamps)
        )

    def _revoked_by(self, events):
        for token in self.tokens:
            if events.is_revoked(token):
                return 'revoked'
        return None

    @property
    def own_size(self):
        """Bytes of what is not shared, about."""
        return (
            1000
            + 700 * len(self.tokens)
            + 200 * len(self.facts or ())
            + self.answer.own_size
        )


class Look:
    """What holds as a request comes in.

    :param began: a number that grows from request to request, drawn before
        anything else was looked at
    :param key: the request's key
    :param now: naive UTC datetime
    :param stamps: what :func:`keystone.common.cache.stamps.read` returned
    :param policy: a :class:`~.policy_state.State`
    """

    __slots__ = ('began', 'key', 'now', 'policy', 'stamps')

    def __init__(self, began, key, now, stamps, policy):
        self.began = began
        self.key = key
        self.now = now
        self.stamps = stamps
        self.policy = policy
