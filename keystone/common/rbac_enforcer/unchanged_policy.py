# SPDX-License-Identifier: Apache-2.0

"""A policy enforcer that only loads its rules when they have changed.

At each enforcement, oslo.policy iterates over the rules of all APIs and
locates its files through several options before it evaluates the rule. When a
file has changed, it clears and refills the rules in use, while other threads
enforce them.
"""

import copy
import os
import threading

from oslo_policy import policy

import keystone.conf

CONF = keystone.conf.CONF

# Where oslo.config looks for files of a project after the folders that its
# options name; see :func:`oslo_config.cfg.find_config_files`.
_FOLDERS = ('~/.{0}', '~', '/etc/{0}', '/etc')
_SNAP_FOLDERS = ('SNAP_COMMON', 'SNAP')


class Enforcer(policy.Enforcer):
    """Enforces rules like oslo.policy."""

    def __init__(self, conf):
        # Where each file may be, and the folders of rules; read once.
        self._paths = {}
        self._folders = None
        self._loaded = None
        # The copy into which rules are loaded; kept if this fails.
        self._begun = None
        self._loading = threading.Lock()
        #: A new object each time rules are set or loaded.
        self.version = object()
        super().__init__(conf)

    def set_rules(self, *args, **kwargs):
        """Set rules, like oslo.policy."""
        super().set_rules(*args, **kwargs)
        self.version, self._begun = object(), None

    def load_rules(self, force_reload=False):
        """Load the rules, unless the files are unchanged.

        The previous rules are used until all new ones are loaded. An invalid
        file raises an error once; later, oslo.policy ignores it.
        """
        if not force_reload and self._is_current(self._look()):
            return
        with self._loading:
            # Before reading, so that later changes are detected next time.
            found = self._look()
            # Another thread may have loaded them meanwhile.
            if force_reload or not self._is_current(found):
                # After an error, it continues with the same copy, since
                # oslo.policy does not read the files before that one again.
                loaded = self._begun = self._begun or self._copy()
                policy.Enforcer.load_rules(loaded, force_reload)
                loaded._loaded = loaded._state(found)
                loaded.version = object()
                vars(self).update(vars(loaded))

    def _copy(self):
        copied = copy.copy(self)
        copied.rules = policy.Rules(self.rules, self.default_rule)
        copied.file_rules = dict(self.file_rules)
        return copied

    def _look(self):
        """Determine the state of the policy files, without reading them.

        :returns: list with a tuple for each existing file and directory, which
            is equal if there is nothing new to load
        """
        if not self.use_conf:
            return None
        path = self.policy_path
        files = [_look(path)] if path else self._search(self.policy_file)
        if self._folders is None:
            # Reading an option takes longer than checking a directory.
            self._folders = tuple(self.conf.oslo_policy.policy_dirs)
        for folder in self._folders:
            files += self._search(folder)
        return files

    def _search(self, name):
        """The state of the file or directory that oslo.policy would use."""
        paths = self._paths.get(name)
        if paths is None:
            joined = (os.path.join(one, str(name)) for one in _folders())
            # All are the same if the name is absolute.
            paths = self._paths[name] = tuple(dict.fromkeys(joined))
        for path in paths:
            if os.access(path, os.F_OK):
                return _look_into(path)
        return []

    def _is_current(self, found):
        return bool(self.rules) and self._loaded == self._state(found)

    def _state(self, found):
        return self.use_conf, found, self.rules, len(self.registered_rules)


def _folders():
    """The directories in which oslo.config looks for a file, in order."""
    found = [*(CONF.config_dirs or ())]
    found += [os.path.dirname(path) for path in reversed(CONF.config_file)]
    found += [folder.format(CONF.project) for folder in _FOLDERS]
    snaps = filter(None, map(os.environ.get, _SNAP_FOLDERS))
    found += [os.path.join(snap, 'etc', CONF.project) for snap in snaps]
    paths = (os.path.abspath(os.path.expanduser(folder)) for folder in found)
    return list(dict.fromkeys(paths))


def _look(path):
    try:
        found = os.stat(path)
    except OSError:
        return path, None
    return path, found.st_mtime_ns, found.st_size, found.st_ino


def _look_into(path):
    names = os.listdir(path) if os.path.isdir(path) else ()
    return [_look(path), *(_look(os.path.join(path, one)) for one in names)]
