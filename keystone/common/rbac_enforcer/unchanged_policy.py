# SPDX-License-Identifier: Apache-2.0

"""A policy enforcer that loads its rules when there is something to load.

oslo.policy goes through the rules of all APIs at each enforcement, and looks
for its files by several options, before it comes to the one rule that counts.
When a file has changed, it empties the rules in use and fills them again,
while other threads enforce them.
"""

import copy
import threading

from oslo_policy import policy

from keystone.common.rbac_enforcer import policy_files


class Enforcer(policy.Enforcer):
    """Enforces as oslo.policy does.

    :param conf: :class:`oslo_config.cfg.ConfigOpts`
    """

    def __init__(self, conf):
        self._files = policy_files.PolicyFiles()
        self._loaded = None
        self._loading = threading.Lock()
        #: Another object each time that rules were set or loaded.
        self.version = object()
        super().__init__(conf)

    def set_rules(self, *args, **kwargs):
        """Set rules, as oslo.policy does."""
        super().set_rules(*args, **kwargs)
        self.version = object()

    def load_rules(self, force_reload=False):
        """Load the rules, unless they are those of the files as they are.

        Other threads use the rules of before until all new ones are there.

        :param force_reload: True to load them in any case
        """
        if not force_reload and self._is_current(self._look()):
            return
        with self._loading:
            # Before they are read: what changes meanwhile shows the next time.
            found = self._look()
            # Another thread may just have loaded them.
            if force_reload or not self._is_current(found):
                loaded = copy.copy(self)
                loaded.rules = policy.Rules(self.rules, self.default_rule)
                loaded.file_rules = dict(self.file_rules)
                policy.Enforcer.load_rules(loaded, force_reload)
                loaded._loaded = loaded._state(found)
                loaded.version = object()
                vars(self).update(vars(loaded))

    def _look(self):
        return self._files.look(self) if self.use_conf else None

    def _is_current(self, found):
        return bool(self.rules) and self._loaded == self._state(found)

    def _state(self, found):
        return self.use_conf, found, self.rules, len(self.registered_rules)
