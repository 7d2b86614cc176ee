# SPDX-License-Identifier: Apache-2.0

"""What policy rules decide about a caller and a token.

oslo.policy decides. Its decision is used again while the rules are the same,
if the rule asks nothing but who calls and what about: each kind of check that
oslo.policy has does so, save for those that ask another server.
"""

from collections.abc import Iterator
from typing import Any

from oslo_policy import policy

from keystone.common.rbac_enforcer import enforcer as rbac_enforcer

ACTIONS = {'GET': 'identity:validate_token', 'HEAD': 'identity:check_token'}

# The largest number of decisions that are kept of one caller.
_MOST = 1000

# A rule of each kind that asks nothing else.
_EXAMPLES = (
    '@', '!', 'role:a', 'a:b', "'a':%(b)s", 'rule:a', 'not rule:a',
    'rule:a and rule:b', 'rule:a or rule:b',
)  # fmt: skip
_KINDS = frozenset(
    type(policy.RuleDefault('example', text).check) for text in _EXAMPLES
)


class Decisions:
    """The decisions about one caller, given again while they stand.

    :param credentials: the caller's
        :class:`keystone.common.context.RequestContext`
    """

    def __init__(self, credentials: Any) -> None:
        self._credentials = credentials
        self._version: object = None
        self._allowed: set = set()

    def allow(self, method: str, target: tuple[str, str | None]) -> bool:
        """Tell whether the caller may ask about a token.

        :param method: of the request
        :param target: ids of the token's user and of its domain
        :raises Exception: what oslo.policy raises, as it refuses
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
    """What rules are told of a token, as the API tells them."""
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
    """All checks that a rule leads to."""
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
