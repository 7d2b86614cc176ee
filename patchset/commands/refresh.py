# SPDX-License-Identifier: Apache-2.0

"""Write edits in the assembled tree back to patches/ and to the overlay.

build/RELEASE is a git work tree with one commit per topic. Edit and commit
there (a new commit becomes a new topic), or leave the edits uncommitted and
specify the topic they belong to.
"""

from patchset import assemble
from patchset import errors
from patchset import git
from patchset import locking
from patchset import paths
from patchset import pins
from patchset import progress
from patchset import series

# Where new files of a topic may stand; the repository mirrors these.
_OVERLAY = ('keystone/', 'releasenotes/notes/')


def add_arguments(parser):
    parser.add_argument(
        '--topic', help='topic that the uncommitted edits belong to'
    )


def run(args):
    """Write the tree back, assemble it anew, and print what changed."""
    pin = pins.load(args.release)
    tree = paths.assembled(pin.release)
    if assemble.read_mark(tree, 'port'):
        raise errors.Error(
            f'{tree} has not all topics yet: finish ./ks port first'
        )
    if not assemble.is_edited(tree):
        # Nothing to take from the tree; the patches may have been edited.
        assemble.ensure(pin)
    elif not assemble.is_current(tree, pin):
        raise errors.Error(
            f'both {tree} and what it was made from (patches/, overlay) were '
            f'edited since: undo one of them'
        )
    with locking.exclusive(tree):
        if args.topic:
            fold(tree, args.topic)
        elif edited := assemble.edits(tree):
            raise errors.Error(
                f'{tree} has uncommitted edits ({edited[0].strip()}): name '
                f'the topic that takes them with --topic, or commit them'
            )
        changed = write(pin.release, read(tree, pin.release))
        assemble.mark(tree, 'head', assemble.head(tree))
    assemble.ensure(pin)
    for name in changed or ['nothing to refresh']:
        progress.say(name)


def fold(tree, topic):
    """Take the uncommitted edits of a tree into one topic's commit.

    :raises patchset.errors.Error: no such topic, or a later topic does not
        apply on top of the edits; the tree is then left as it was
    """
    commits = {name: commit for commit, name, _ in topics_of(tree)}
    series.check_names([topic], commits)
    if not assemble.edits(tree):
        return
    before = assemble.head(tree)
    git.git(tree, 'add', '--all')
    git.git(
        tree, 'commit', '--quiet', '--no-verify', f'--fixup={commits[topic]}'
    )
    try:
        git.git(
            tree, 'rebase', '--quiet', '--interactive', '--autosquash',
            assemble.BASE, env={'GIT_SEQUENCE_EDITOR': 'true'},
        )  # fmt: skip
    except errors.Error as error:
        git.git(tree, 'rebase', '--abort')
        git.git(tree, 'reset', '--quiet', before, '--soft')
        git.git(tree, 'reset', '--quiet')
        raise errors.Error(
            f'a topic after {topic} does not apply on top of these edits '
            f'({error}); the tree is as it was: rebase it by hand'
        )


def topics_of(tree, base=assemble.BASE, last='HEAD'):
    """The tree's topics: (commit id, name, message) each, in order."""
    found = []
    for commit in assemble.commits(tree, base, last):
        message = git.git(tree, 'show', '-s', '--format=%B', commit)
        _, name = series.place(message)
        if not name:
            name = git.git(tree, 'show', '-s', '--format=%f', commit)
            name = name.strip().lower()
        found.append((commit, name, message))
    for name in series.repeated(name for _, name, _ in found):
        raise errors.Error(f'two commits of the tree are topic {name}')
    return found


def read(tree, release):
    """The patches and overlay files of a release, by the tree's commits.

    :returns: {repository path: bytes}, the patches in order
    :raises patchset.errors.Error: a commit changes another topic's overlay
        file, adds a file where none may stand, or is behind the wrong stack
    """
    upstream = set(
        git.names(tree, 'ls-tree', '-rz', '--name-only', assemble.BASE)
    )
    patches, overlay = {}, []
    stack = next(iter(series.STACKS))
    for commit, name, message in topics_of(tree):
        stack = _stack(name, message, stack)
        adds, hunks = [], []
        for path in git.names(
            tree, 'diff-tree', '-r', '-z', '--no-commit-id', '--name-only',
            '--no-renames', commit,
        ):  # fmt: skip
            if path in upstream:
                hunks.append(path)
            elif path in overlay:
                raise errors.Error(
                    f'topic {name} changes {path}, which an earlier topic '
                    f'adds: an overlay file belongs to one topic'
                )
            elif not path.startswith(_OVERLAY):
                raise errors.Error(
                    f'topic {name} adds {path}: new files stand below '
                    f'{" or ".join(_OVERLAY)}'
                )
            else:
                adds.append(path)
        overlay += adds
        path = f'patches/{release}/{stack}/{name}.patch'
        patches[path] = _patch(tree, commit, message, adds, hunks)
    # No later topic changes those of an earlier one.
    return patches | {path: (tree / path).read_bytes() for path in overlay}


def _stack(name, message, before):
    """The stack of a commit: its trailer's, or that of the commit before."""
    stack = series.place(message)[0] or before
    order = [*series.STACKS]
    if stack not in order:
        raise errors.Error(
            f'topic {name}: no stack {stack}; there are: {", ".join(order)}'
        )
    if order.index(stack) < order.index(before):
        raise errors.Error(
            f'topic {name} of stack {stack} stands behind one of {before}: '
            f'rebase the tree'
        )
    return stack


def _patch(tree, commit, message, adds, hunks):
    lines = [f'Adds: {path}' for path in adds]
    for key in ('Depends', 'Forwarded'):
        lines += [f'{key}: {value}' for value in series.trailers(message, key)]
    message = series.replace_trailers(message, series.HOUSE_TRAILERS, lines)
    subject, _, body = message.partition('\n\n')
    header = git.git(
        tree, 'show', '-s', '--format=From: %an <%ae>%nDate: %aD', commit
    )
    diff = ''
    if hunks:
        diff = git.git(
            tree, 'diff', '--full-index', '--no-renames', f'{commit}^',
            commit, '--', *hunks,
        )  # fmt: skip
    subject = ' '.join(subject.split())
    return (
        f'From {"0" * 40} Mon Sep 17 00:00:00 2001\n{header.strip()}\n'
        f'Subject: [PATCH] {subject}\n\n{body}---\n{diff}'
    ).encode()


def write(release, wanted, root=paths.ROOT):
    """Bring patches/ and the overlay in line with what :func:`read` returned.

    Files of a topic that is gone are removed, unless another release has
    them; files that no topic ever named are left alone.

    :returns: list of repository paths that were written or removed
    """
    folder = root / 'patches' / release
    wanted = wanted | {
        f'patches/{release}/{stack}/series': _series(
            release, stack, wanted, root
        )
        for stack in series.STACKS
    }
    before = {
        f'patches/{release}/{path.relative_to(folder)}'
        for path in folder.glob('*/*.patch')
    }
    for topic in series.load(release, root / 'patches'):
        before.update(topic.adds)
    for topic in series.elsewhere(release, root / 'patches').values():
        before.difference_update(topic.adds)
    changed = []
    for name in sorted(before - set(wanted)):
        (root / name).unlink(missing_ok=True)
        changed.append(name)
    for name, content in wanted.items():
        path = root / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            changed.append(name)
    return changed


def _series(release, stack, wanted, root):
    """A stack's series file: its comments kept, its topics in order."""
    folder = root / 'patches'
    own = f'patches/{release}/{stack}/'
    names = [one.removeprefix(own) for one in wanted if one.startswith(own)]
    if series.file_names(release, stack, folder) == names:
        return (folder / release / stack / 'series').read_bytes()
    comments = series.comments(release, stack, folder)
    return (comments + ''.join(f'{name}\n' for name in names)).encode()
