# SPDX-License-Identifier: Apache-2.0

"""State of the files that the policy is loaded from."""

import os

import keystone.conf

CONF = keystone.conf.CONF

# Where oslo.config looks for files of a project after the folders that its
# options name; see :func:`oslo_config.cfg.find_config_files`.
_FOLDERS = ('~/.{0}', '~', '/etc/{0}', '/etc')
_SNAP_FOLDERS = ('SNAP_COMMON', 'SNAP')


class PolicyFiles:
    """Locates files like oslo.policy.

    The options are read once per enforcer.
    """

    def __init__(self):
        self._paths = {}
        self._folders = None

    def look(self, enforcer):
        """Determine the state of an enforcer's files, without reading them.

        :param enforcer: an :class:`oslo_policy.policy.Enforcer` that reads
            files
        :returns: list with a tuple for each existing file and directory, which
            is equal if there is nothing new to load
        """
        path = enforcer.policy_path
        if path:
            files = [_look(path)]
        else:
            files = self._search(enforcer.policy_file)
        if self._folders is None:
            # Reading an option takes longer than checking a directory.
            self._folders = tuple(enforcer.conf.oslo_policy.policy_dirs)
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
    found = [_look(path)]
    if os.path.isdir(path):
        for name in os.listdir(path):
            found.append(_look(os.path.join(path, name)))
    return found
