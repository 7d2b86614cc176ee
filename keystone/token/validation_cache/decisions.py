# SPDX-License-Identifier: Apache-2.0

"""Cached policy decisions about a caller and a token.

A decision of oslo.policy is reused while the rules are unchanged, if the rule
only depends on the credentials and the target. This holds for all built-in
checks of oslo.policy except those that contact another server. If it does not
refer to the target, the decision is reused for all targets.
"""

from collections.abc import Iterator
import hashlib
from typing import Any

from oslo_policy import policy

from keystone.common.rbac_enforcer import enforcer as rbac_enforcer

# Maximum number of decisions kept per caller.
_MOST = 1000

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
    """

    def __init__(self, credentials: Any) -> None:
        self.credentials = credentials
        self._version: object = None
        self._allowed: set = set()
        self._uses: dict[str, tuple[bool, bool]] = {}

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
        if version is not self._version or len(self._allowed) > _MOST:
            self._allowed, self._uses, self._version = set(), {}, version
        allowed, uses = self._allowed, self._uses
        if action not in uses:
            uses[action] = _uses(action, rules)
        is_pure, uses_target = uses[action]
        # A digest, as the target may contain secrets.
        key = action, _digest(target) if uses_target else None
        if key in allowed:
            return True
        enforcer._enforce(self.credentials, action, dict(target))
        if is_pure and rules.version is version:
            allowed.add(key)
        return True


def _digest(target: tuple) -> bytes:
    return hashlib.blake2b(repr(target).encode(), digest_size=20).digest()


def _uses(action: str, rules: policy.Enforcer) -> tuple[bool, bool]:
    """Whether a rule uses only its arguments, and whether its target."""
    checks = list(_checks(action, rules, set()))
    return (
        action in rules.rules and all(type(one) in _KINDS for one in checks),
        any('%' in getattr(one, 'match', '') for one in checks),
    )


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
