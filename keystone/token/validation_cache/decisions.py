# SPDX-License-Identifier: Apache-2.0

"""Cached policy decisions about a caller and a token.

A decision of oslo.policy is reused while the rules are unchanged, if the rule
only depends on the credentials and the target. This holds for all built-in
checks of oslo.policy except those that contact another server. If the rule
allows the caller whatever the target is, such as a service by its role, the
decision is reused for all targets.
"""

import collections
from collections.abc import Iterator
import hashlib
import secrets
from typing import Any

from oslo_policy import policy

from keystone.common.rbac_enforcer import enforcer as rbac_enforcer

# Maximum number of decisions kept per caller.
_MOST = 1000

# The digest of all targets.
_ANY = b''
# Approximate size of the credentials of a caller, and of a decision, in bytes.
_OVERHEAD = 12000
_OF_DECISION = 200

# A rule of each kind that depends on nothing else.
_EXAMPLES = (
    '@', '!', 'role:a', 'a:b', "'a':%(b)s", 'rule:a', 'not rule:a',
    'rule:a and rule:b', 'rule:a or rule:b',
)  # fmt: skip
_KINDS = frozenset(
    type(policy.RuleDefault('example', text).check) for text in _EXAMPLES
)


class Decisions:
    """The decisions about one caller, reused while they are valid.

    :ivar credentials: the caller's
        :class:`keystone.common.context.RequestContext`
    :ivar size: approximate size in bytes
    """

    def __init__(self, credentials: Any) -> None:
        self.credentials = credentials
        self.size = _OVERHEAD
        # The version of the rules, what they allow, and how this is reused.
        self._kept: tuple[object, set, dict] = (None, set(), {})

    def allow(self, action: str, target: tuple) -> bool:
        """Whether the caller is allowed to do something.

        :param action: name of the policy rule
        :param target: the target, as pairs of name and value
        :raises Exception: errors of oslo.policy on denial
        """
        enforcer = rbac_enforcer.RBACEnforcer()
        rules = enforcer._enforcer
        rules.load_rules()
        version = rules.version
        kept = self._kept
        if version is not kept[0] or len(kept[1]) > _MOST:
            # In one step, as other threads may still use the old rules.
            kept = self._kept = (version, set(), {})
        _, allowed, reuse = kept
        if (action, _ANY) in allowed:
            return True
        # A digest, as the target may contain secrets.
        digest = hashlib.sha256(repr(target).encode()).digest()
        if (action, digest) in allowed:
            return True
        enforcer._enforce(self.credentials, action, dict(target))
        if action not in reuse:
            reuse[action] = self._judge(enforcer, action)
        is_pure, is_for_any = reuse[action]
        if is_pure and rules.version is version:
            allowed.add((action, _ANY if is_for_any else digest))
            self.size = _OVERHEAD + _OF_DECISION * len(allowed)
        return True

    def _judge(self, enforcer: Any, action: str) -> tuple[bool, bool]:
        """How a decision to allow can be reused.

        :returns: whether it only depends on the arguments, and whether it
            holds for all targets
        """
        rules = enforcer._enforcer
        checks = list(_checks(action, rules, set()))
        kinds = {type(one) for one in checks}
        if action not in rules.rules or not kinds <= _KINDS:
            return False, False
        if policy.NotCheck in kinds:
            return True, False
        # A target with which no check agrees. Without negation, a rule that
        # allows it allows any, unless the check of another one fails.
        unlike: dict = collections.defaultdict(secrets.token_hex)
        try:
            for one in checks:
                if '%' in getattr(one, 'match', ''):
                    rules.enforce(one, unlike, self.credentials)
            enforcer._enforce(self.credentials, action, unlike)
        except Exception:
            return True, False
        return True, True


def _checks(
    name: str, rules: policy.Enforcer, seen: set[str]
) -> Iterator[Any]:
    """All checks that a rule consists of."""
    if name in seen:
        return
    seen.add(name)
    waiting = [rules.rules.get(name)]
    while waiting:
        check = waiting.pop()
        yield check
        waiting.extend(getattr(check, 'rules', ()))
        if hasattr(check, 'rule'):
            waiting.append(check.rule)
        if isinstance(check, policy.RuleCheck):
            yield from _checks(check.match, rules, seen)
