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

"""Git, without the user's own configuration."""

import os

from patchset import process

# The same commit ids on every machine, whoever runs it.
_ENVIRONMENT = {
    'GIT_CONFIG_GLOBAL': os.devnull,
    'GIT_CONFIG_SYSTEM': os.devnull,
    'LC_ALL': 'C',
    'TZ': 'UTC',
}
IDENTITY = ('Keystone Revocation and Caching Patch Set', 'revcache@localhost')


def git(tree, *arguments, stdin=None, env=None, what=None):
    """Run git in a tree and return what it printed.

    :raises patchset.errors.Error: git failed
    """
    return process.run(
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
