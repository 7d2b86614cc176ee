# SPDX-License-Identifier: Apache-2.0

"""Cached policy decisions about a caller and a token.

A decision of oslo.policy is reused while the rules are unchanged, if the rule
only depends on the credentials and the target. This holds for all built-in
checks of oslo.policy except those that contact another server.
"""

from collections.abc import Iterator
from typing import Any

from oslo_policy import policy

from keystone.common.rbac_enforcer import enforcer as rbac_enforcer

ACTIONS = {'GET': 'identity:validate_token', 'HEAD': 'identity:check_token'}

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

    :param credentials: the caller's
        :class:`keystone.common.context.RequestContext`
    """

    def __init__(self, credentials: Any) -> None:
        self._credentials = credentials
        self._version: object = None
        self._allowed: set = set()

    def allow(self, method: str, target: tuple[str, str | None]) -> bool:
        """Whether the caller may validate a token.

        :param method: method of the request
        :param target: ids of the token's user and of its domain
        :raises Exception: errors of oslo.policy on denial
        """
        enforcer = rbac_enforcer.RBACEnforcer()
        rules = enforcer._enforcer
        rules.load_rules()
        version = rules.version
        if version is not self._version or len(self._allowed) > _MOST:
            self._allowed, self._version = set(), version
        if (method, target) in self._allowed:
            return True
        allowed = self._allowed
        enforcer._enforce(self._credentials, ACTIONS[method], _target(*target))
        if _asks_nothing_else(ACTIONS[method], rules):
            if rules.version is version:
                allowed.add((method, target))
        return True


def _target(user_id: str, domain_id: str | None) -> dict[str, str]:
    """The target of policy rules for a token, as in the API."""
    target = {'target.token.user_id': user_id}
    if domain_id:
        target['target.token.user.domain.id'] = domain_id
    return target


def _asks_nothing_else(action: str, rules: policy.Enforcer) -> bool:
    return action in rules.rules and all(
        type(check) in _KINDS for check in _checks(action, rules, set())
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
