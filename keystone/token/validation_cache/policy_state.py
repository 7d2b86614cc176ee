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

"""What a policy decision was made by: the rules, and the files behind them.

oslo.policy looks at its files each time it enforces, and loads those that have
changed. A decision stands as long as it would find nothing to load.
"""

import collections

from oslo_policy import policy

from keystone.common.rbac_enforcer import enforcer as rbac_enforcer
from keystone.common.rbac_enforcer import policy_files


class State(collections.namedtuple('State', ('rules', 'files'))):
    """The rules, and what their files look like: None if none are used."""

    __slots__ = ()

    def stems_from(self, earlier):
        """Tell whether the rules are those of an earlier state's files."""
        return self.files == earlier.files and (
            self.files is not None or self.rules is earlier.rules
        )


# Where RBACEnforcer keeps the enforcer, once it has made one.
_ENFORCER = '_RBACEnforcer__ENFORCER'

# Checks that look at nothing but the credentials and the target.
_CHECKS = 'oslo_policy._checks'


class PolicyState:
    """Looks at the policy of one process."""

    def __init__(self):
        self._files = policy_files.PolicyFiles()
        self._settled = (None, {})

    def read(self):
        """Look at the rules and at their files.

        :returns: a :class:`State`; None before the first enforcement
        """
        enforcer = rbac_enforcer.RBACEnforcer.__shared_state__.get(_ENFORCER)
        if enforcer is None or not enforcer.rules:
            return None
        if not enforcer.use_conf:
            return State(enforcer.rules, None)
        return State(enforcer.rules, self._files.look(enforcer))

    def decides_alone(self, rules, action):
        """Tell whether a rule asks nothing but credentials and target.

        :param rules: rules of a :class:`State`
        :param action: name of the rule
        :returns: bool
        """
        of_rules, known = self._settled
        if of_rules is not rules:
            known = {}
            self._settled = (rules, known)
        if action not in known:
            known[action] = action in rules and _is_plain(
                rules[action], rules, set()
            )
        return known[action]


def _is_plain(check, rules, seen):
    if type(check).__module__ != _CHECKS:
        return False
    if isinstance(check, policy.RuleCheck):
        if check.match in seen:
            return True
        seen.add(check.match)
        return check.match in rules and _is_plain(
            rules[check.match], rules, seen
        )
    below = list(getattr(check, 'rules', ()))
    if hasattr(check, 'rule'):
        below.append(check.rule)
    return all(_is_plain(each, rules, seen) for each in below)
