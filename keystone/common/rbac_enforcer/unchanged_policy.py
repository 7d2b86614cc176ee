# SPDX-License-Identifier: Apache-2.0

"""A policy enforcer that only loads its rules when they have changed.

At each enforcement, oslo.policy iterates over the rules of all APIs and
locates its files through several options before it evaluates the rule. When a
file has changed, it clears and refills the rules in use, while other threads
enforce them.
"""

import copy
import threading

from oslo_policy import policy

from keystone.common.rbac_enforcer import policy_files


class Enforcer(policy.Enforcer):
    """Enforces rules like oslo.policy.

    :param conf: :class:`oslo_config.cfg.ConfigOpts`
    """

    def __init__(self, conf):
        self._files = policy_files.PolicyFiles()
        self._loaded = None
        self._loading = threading.Lock()
        #: A new object each time rules are set or loaded.
        self.version = object()
        super().__init__(conf)

    def set_rules(self, *args, **kwargs):
        """Set rules, like oslo.policy."""
        super().set_rules(*args, **kwargs)
        self.version = object()

    def load_rules(self, force_reload=False):
        """Load the rules, unless the files are unchanged.

        Other threads use the previous rules until all new ones are loaded, or
        one of the files is found to be invalid.

        :param force_reload: True to load them in any case
        """
        if not force_reload and self._is_current(self._look()):
            return
        with self._loading:
            # Before reading, so that later changes are detected next time.
            found = self._look()
            # Another thread may have loaded them meanwhile.
            if force_reload or not self._is_current(found):
                loaded = copy.copy(self)
                loaded.rules = policy.Rules(self.rules, self.default_rule)
                loaded.file_rules = dict(self.file_rules)
                try:
                    policy.Enforcer.load_rules(loaded, force_reload)
                    loaded._loaded = loaded._state(found)
                finally:
                    # After an error as well: oslo.policy does not read the
                    # files before the invalid one again.
                    loaded.version = object()
                    vars(self).update(vars(loaded))

    def _look(self):
        return self._files.look(self) if self.use_conf else None

    def _is_current(self, found):
        return bool(self.rules) and self._loaded == self._state(found)

    def _state(self, found):
        return self.use_conf, found, self.rules, len(self.registered_rules)
