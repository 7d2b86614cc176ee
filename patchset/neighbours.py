# SPDX-License-Identifier: Apache-2.0

"""Conflicts of a cherry-pick that are about neighbouring lines only.

Git refuses to insert a line where the line beside it is missing. A topic that
adds an import beside that of another topic does not depend on that topic.
"""

import difflib
import re

from patchset import errors
from patchset import git

# Git's diff3 style: our lines, those the commit began with, those it ended
# with.
_CONFLICT = re.compile(
    r'^<<<<<<< .*\n(?P<ours>(?:.*\n)*?)'
    r'^\|\|\|\|\|\|\| .*\n(?P<before>(?:.*\n)*?)'
    r'^=======\n(?P<after>(?:.*\n)*?)'
    r'^>>>>>>> .*\n',
    re.MULTILINE,
)


def settle(tree):
    """Resolve the conflicts of a cherry-pick that failed, in its work tree.

    :param tree: folder of a work tree, in which ``git cherry-pick`` with
        ``merge.conflictStyle=diff3`` has stopped
    :raises patchset.errors.Error: the commit removes or replaces lines that
        are not there, or a file is missing
    """
    listed = git.names(tree, 'ls-files', '--unmerged', '-z')
    stages = {}
    for entry in listed:
        description, _, name = entry.partition('\t')
        stages.setdefault(name, set()).add(description.split()[-1])
    if not stages:
        raise errors.Error('no conflict of lines')
    for name, found in stages.items():
        if found != {'1', '2', '3'}:
            raise errors.Error(f'{name} is missing or new')
        path = tree / name
        path.write_text(_CONFLICT.sub(_resolve, path.read_text()))
    git.git(tree, 'add', '--', *stages)


def _resolve(conflict):
    """The lines that stand for a conflict."""
    ours, before, after = (
        conflict[part].splitlines(keepends=True)
        for part in ('ours', 'before', 'after')
    )
    result = []
    done = 0  # lines of ours that are in the result
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for operation, first, last, start, end in matcher.get_opcodes():
        if operation == 'equal':
            for line in before[first:last]:
                if line in ours[done:]:
                    place = ours.index(line, done) + 1
                    result += ours[done:place]
                    done = place
        elif operation == 'insert':
            result += after[start:end]
        else:
            # Lines that the commit removes must be there, one by one.
            removed = before[first:last]
            if ours[done : done + len(removed)] != removed:
                raise errors.Error(f'not there: {removed[0].strip()}')
            done += len(removed)
            result += after[start:end]
    return ''.join(result + ours[done:])
