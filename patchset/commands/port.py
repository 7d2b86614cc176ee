# SPDX-License-Identifier: Apache-2.0

"""Port the topics to another upstream version.

With a version, pins a release to it and applies the topics to its source by a
three-way merge. On a conflict it stops: resolve it in build/RELEASE as git
says, and run the command again without a version to continue. Finally, write
the patches with ./ks refresh.

--check REF only reports which topics apply to a commit of upstream's git
repository, such as the end of a stable branch, with `git am --3way`. Nothing
is changed there. It exits with 1 if one does not apply.
"""

import pathlib
import shutil

from patchset import arguments
from patchset import assemble
from patchset import errors
from patchset import export
from patchset import git
from patchset import locking
from patchset import paths
from patchset import pins
from patchset import progress
from patchset import series
from patchset import upstream
from patchset.commands import refresh

# Tags of the new tree: the old source, and the old topics on top of it.
BASE, TOPICS = 'ported-base', 'ported-topics'


def add_release(parser):
    arguments.add_release(parser, new=True)


def add_arguments(parser):
    parser.add_argument(
        '--from',
        dest='origin',
        metavar='R',
        help='release to port the topics from (default: the same release, or '
        'the newest for a new one)',
    )
    parser.add_argument(
        'version',
        nargs='?',
        help='upstream version, such as 30.0.1; continue if omitted',
    )
    parser.add_argument(
        '--check',
        metavar='REF',
        help='report which topics apply to this commit, branch or tag',
    )
    parser.add_argument(
        '--tree',
        metavar='DIR',
        type=pathlib.Path,
        help='for --check: git repository of Keystone (default: the current '
        'folder)',
    )


def run(args):
    """Start, continue or check, and report what to review."""
    if args.check:
        if args.version or args.origin:
            raise errors.UsageError('--check takes no version and no --from')
        return check(
            pins.load(args.release), args.check, args.tree or pathlib.Path()
        )
    if args.tree:
        raise errors.UsageError('--tree requires --check')
    if args.version:
        _pin_version(args)
    elif args.origin:
        raise errors.UsageError('--from requires a version')
    changed, merged = resume(pins.load(args.release))
    for names, what in (
        (changed, 'has changed hunks'),
        (merged, 'has no hunks left: was it merged upstream?'),
    ):
        for name in names:
            progress.say(f'{name} {what}')
    progress.say(
        f'To compare: git -C {paths.assembled(args.release)} range-diff '
        f'{BASE}..{TOPICS} {assemble.BASE}..HEAD'
    )
    progress.say(f'Then: ./ks refresh --release {args.release}')


def _pin_version(args):
    known = args.release in pins.releases()
    origin = args.origin or (args.release if known else pins.newest())
    old = pins.load(origin)
    # Fail on uncommitted edits before anything is written.
    assemble.ensure(old)
    archive = upstream.fetch(args.version)
    pin = pins.Pin(
        args.release, args.version, archive.name, upstream.sha256(archive), 1
    )
    progress.say(
        f'{pin.file}: sha256 {pin.sha256}: compare it with the one published '
        f'by upstream'
    )
    pins.write(pin)
    for stack in series.STACKS:
        listed = paths.PATCHES / pin.release / stack / 'series'
        if not listed.exists():
            listed.parent.mkdir(exist_ok=True)
            listed.write_text(series.comments(origin, stack))
    start(pin, old)


def start(pin, old):
    """Make the tree of a release anew, without any topic yet.

    :param pin: :class:`patchset.pins.Pin` of the release to carry over to
    :param old: the pin of the release whose topics are carried over; it can
        be the same release, before its pin was changed
    :raises patchset.errors.Error: the tree has edits or commits that are
        nowhere else
    """
    source = upstream.ensure(pin)
    topics = assemble.ensure(old)
    tree = paths.assembled(pin.release)
    with locking.exclusive(tree):
        if tree.is_dir():
            assemble.assert_clean(tree, pin)
        with paths.temporary(parent=paths.BUILD) as temporary:
            fresh = temporary / 'tree'
            assemble.build(pin, source, [], fresh)
            git.git(
                fresh, 'fetch', '--quiet', '--no-tags', topics,
                f'refs/tags/{assemble.BASE}:refs/tags/{BASE}',
                f'HEAD:refs/tags/{TOPICS}',
            )  # fmt: skip
            listed = series.load(pin.release)
            assemble.mark(fresh, 'inputs', assemble.digest(pin, listed))
            assemble.mark(fresh, 'port', old.release)
            shutil.rmtree(tree, ignore_errors=True)
            shutil.move(fresh, tree)


def resume(pin):
    """Put the topics that are not there yet onto the tree, in order.

    Topics that the series of the release does without are left out. What a
    topic was resolved to is kept: the next call goes on after it.

    :returns: names of topics whose hunks are not what they were, and names of
        topics with no hunk left: upstream may have them
    :raises patchset.errors.Error: git cannot merge a topic, or :func:`start`
        was not called
    """
    tree = paths.assembled(pin.release)
    if not assemble.read_mark(tree, 'port'):
        raise errors.UsageError(
            f'no topics are being carried over to {pin.release}: name the '
            f'upstream version'
        )
    without = series.without(pin.release)
    with locking.exclusive(tree):
        _assert_resolved(tree)
        here = [name for _, name, _ in refresh.topics_of(tree)]
        for commit, name, _ in refresh.topics_of(tree, BASE, TOPICS):
            if name in here or name in without:
                continue
            try:
                git.git(tree, 'cherry-pick', '--allow-empty', commit)
            except errors.Error:
                _assert_resolved(tree, name)
                raise
        assemble.mark(tree, 'port', '')
        return _report(tree)


def check(pin, reference, tree):
    """Report which topics apply to a commit, in order.

    A topic that does not apply is left out.

    :param pin: :class:`patchset.pins.Pin` of the release of the topics
    :param reference: name of the commit
    :param tree: git repository of Keystone, which is not changed
    :returns: the exit code: 1 if a topic does not apply
    :raises patchset.errors.Error: there is no such commit of Keystone
    """
    commit = _commit(tree, reference)
    source = assemble.ensure(pin)
    with paths.temporary() as temporary:
        clone = temporary / 'clone'
        git.git(
            tree, 'clone', '--quiet', '--shared', '--no-checkout', '.', clone
        )
        git.git(clone, 'checkout', '--quiet', '--detach', commit)
        for key, value in zip(('name', 'email'), git.IDENTITY, strict=True):
            git.git(clone, 'config', f'user.{key}', value)
        progress.step(f'exporting the topics of {pin.release}')
        written = export.export(
            source, series.load(pin.release), temporary / 'series'
        )
        flaws = 0
        for path in written:
            flaw = _try_to_apply(clone, path)
            flaws += flaw is not None
            # Without the number of the patch.
            progress.say(f'{path.stem[5:]}: {flaw or "applies"}')
    progress.say(
        f'{len(written) - flaws} of {len(written)} topics apply to '
        f'{reference} ({commit[:9]})'
    )
    return 1 if flaws else 0


def _commit(tree, reference):
    """The id of a commit of Keystone.

    :raises patchset.errors.Error: there is none
    """
    try:
        commit = git.git(
            tree, 'rev-parse', '--verify', f'{reference}^{{commit}}'
        ).strip()
        git.git(tree, 'cat-file', '-e', f'{commit}:keystone')
    except (errors.Error, OSError) as error:
        raise errors.Error(
            f'{tree}: no commit {reference} of Keystone'
        ) from error
    return commit


def _try_to_apply(clone, path):
    """Apply a patch, or leave the clone as it was.

    :returns: None, or why it does not apply
    """
    try:
        git.git(clone, 'am', '--quiet', '--3way', path)
        return None
    except errors.Error as error:
        reason = error
        git.git(clone, 'am', '--abort')
    try:
        # Without a merge, git names the file.
        git.git(clone, 'apply', '--check', path)
    except errors.Error as error:
        reason = error
    return str(reason).rpartition('error: ')[2]


def _assert_resolved(tree, name=None):
    head = tree / '.git' / 'CHERRY_PICK_HEAD'
    if not head.is_file():
        return
    if not name:
        message = git.git(
            tree, 'show', '-s', '--format=%B', 'CHERRY_PICK_HEAD'
        )
        _, name = series.place(message)
    files = git.names(tree, 'diff', '--name-only', '--diff-filter=U', '-z')
    raise errors.Error(
        f'{name} needs you, in {tree}: {", ".join(files) or "no file"}; '
        f'resolve, git add, git cherry-pick --continue (or --skip, with the '
        f'reason in the series), and run this again'
    )


def _report(tree):
    before, after = (
        {name: _hunks(tree, commit) for commit, name, _ in topics}
        for topics in (
            refresh.topics_of(tree, BASE, TOPICS), refresh.topics_of(tree),
        )
    )  # fmt: skip
    both = [name for name in after if name in before]
    return (
        [n for n in both if after[n] and after[n] != before[n]],
        [n for n in both if before[n] and not after[n]],
    )


def _hunks(tree, commit):
    """The lines that a commit changes in files that were there before."""
    return [
        line
        for line in git.git(
            tree, 'show', '--format=', '--unified=0', '--diff-filter=M', commit
        ).splitlines()
        if line[:1] in '+-' and line[:4] not in ('+++ ', '--- ')
    ]
