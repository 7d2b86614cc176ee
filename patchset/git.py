# SPDX-License-Identifier: Apache-2.0

"""Git, without the user's own configuration."""

import os

from patchset import child

# The same commit ids on every machine and for every user.
_ENVIRONMENT = {
    'GIT_CONFIG_GLOBAL': os.devnull,
    'GIT_CONFIG_SYSTEM': os.devnull,
    'LC_ALL': 'C',
    'TZ': 'UTC',
}
IDENTITY = ('Keystone Revocation and Caching Patch Set', 'revcache@localhost')


def git(tree, *arguments, stdin='', env=None, what=None):
    """Run git in a tree and return what it printed.

    :raises patchset.errors.Error: git failed
    """
    return child.run(
        ['git', *arguments],
        cwd=tree,
        stdin=stdin,
        env={**_ENVIRONMENT, **(env or {})},
        what=what,
    )


def commit(tree, message, author=IDENTITY, date='2026-08-22T00:00:00+0000'):
    """Commit what is in the index, with the same id everywhere."""
    name, address = author
    env = {}
    for role in ('AUTHOR', 'COMMITTER'):
        env[f'GIT_{role}_NAME'] = name
        env[f'GIT_{role}_EMAIL'] = address
        env[f'GIT_{role}_DATE'] = date
    git(
        # To look for what could be packed takes as long as the commit.
        tree, '-c', 'maintenance.auto=false',
        'commit', '--quiet', '--allow-empty', '--no-verify', '--cleanup',
        'verbatim', '--file', '-', stdin=message, env=env, what='git commit',
    )  # fmt: skip


def names(tree, *arguments):
    """The lines of a NUL-separated listing, such as ``ls-files -z``."""
    return [name for name in git(tree, *arguments).split('\0') if name]
