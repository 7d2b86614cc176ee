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
import os

from oslo_config import cfg
from oslo_policy import policy

from keystone.common.rbac_enforcer import enforcer as rbac_enforcer
import keystone.conf

CONF = keystone.conf.CONF


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
        self._paths = {}
        self._named = (None, ())
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
        path = enforcer.policy_path
        if path:
            files = [_look(path)]
        else:
            files = self._search(enforcer.policy_file)
        for folder in self._folders_of(enforcer):
            files += self._search(folder)
        return State(enforcer.rules, files)

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

    def _folders_of(self, enforcer):
        # Reading an option takes longer than looking at a folder.
        of_enforcer, folders = self._named
        if of_enforcer is not enforcer:
            folders = tuple(enforcer.conf.oslo_policy.policy_dirs)
            self._named = (enforcer, folders)
        return folders

    def _search(self, name):
        """Look at the file or folder that oslo.policy finds by a name."""
        paths = self._paths.get(name)
        if paths is None:
            paths = self._paths[name] = [
                os.path.join(folder, str(name)) for folder in _folders()
            ]
        for path in paths:
            if os.access(path, os.F_OK):
                return _look_into(path)
        return []


def _folders():
    """The folders that oslo.config looks for a file in, in its order."""
    found = [*(CONF.config_dirs or ())]
    found += [os.path.dirname(path) for path in reversed(CONF.config_file)]
    found += cfg._get_config_dirs(CONF.project)
    paths = (os.path.abspath(os.path.expanduser(folder)) for folder in found)
    return list(dict.fromkeys(paths))


def _look(path):
    try:
        found = os.stat(path)
    except OSError:
        return path, None
    return path, found.st_mtime_ns, found.st_size, found.st_ino


def _look_into(path):
    found = [_look(path)]
    if os.path.isdir(path):
        for name in os.listdir(path):
            found.append(_look(os.path.join(path, name)))
    return found


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
