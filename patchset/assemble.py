# SPDX-License-Identifier: Apache-2.0

"""From the pinned source, the patches and the overlay to a patched tree.

The tree is a git work tree: the pristine source as its first commit, tagged
``upstream``, then one commit per topic. The same inputs give the same
commit ids.
"""

import hashlib
import pathlib
import re
import shutil
import sys

from patchset import child
from patchset import errors
from patchset import git
from patchset import locking
from patchset import paths
from patchset import progress
from patchset import series
from patchset import upstream

BASE = 'upstream'
# Made by running things in the tree; nobody's edits.
_MADE = ('*.egg-info', '__pycache__', '*.pyc', '.stestr', '.coverage')
_SETUP = 'import setuptools; setuptools.setup(pbr=True)'


def ensure(pin, stock=False):
    """Return the tree of a release, up to date.

    :param pin: a :class:`patchset.pins.Pin`
    :param stock: the pristine one instead
    :raises patchset.errors.Error: a topic does not apply exactly, or the
        tree there has edits that a new one would lose
    """
    source = upstream.ensure(pin)
    if stock:
        return source
    topics = series.load(pin.release)
    tree = paths.assembled(pin.release)
    with locking.exclusive(tree):
        if tree.is_dir():
            assert_clean(tree, pin)
            if is_current(tree, pin):
                return tree
        what = f'assembling {pin.release}: {len(topics)} topics'
        with (
            progress.stage(what),
            paths.temporary(parent=paths.BUILD) as temporary,
        ):
            fresh = temporary / 'tree'
            build(pin, source, topics, fresh)
            mark(fresh, 'inputs', digest(pin, topics))
            if tree.is_dir():
                renew(tree, fresh)
            else:
                shutil.move(fresh, tree)
    return tree


def renew(tree, fresh):
    """Make a tree what a fresh one is, in place.

    Servers and tests that run in it keep their folder.
    """
    git.git(tree, 'fetch', '--quiet', '--tags', '--force', fresh, 'patched')
    git.git(tree, 'reset', '--quiet', '--hard', 'FETCH_HEAD')
    metadata = 'keystone.egg-info'
    shutil.rmtree(tree / metadata, ignore_errors=True)
    shutil.copytree(fresh / metadata, tree / metadata)
    for name in ('head', 'inputs'):
        mark(tree, name, read_mark(fresh, name))


def digest(pin, topics, root=paths.ROOT):
    """Fingerprint of all that an assembled tree is made from."""
    total = hashlib.sha256(repr(pin).encode())
    total.update(pathlib.Path(__file__).read_bytes())
    for topic in topics:
        total.update(topic.name.encode())
        total.update(topic.path.read_bytes())
        for name in topic.adds:
            if (root / name).is_file():
                total.update((root / name).read_bytes())
    return total.hexdigest()


def build(pin, source, topics, tree, root=paths.ROOT):
    """Assemble a tree anew in a folder that does not exist yet.

    :param source: folder of the pristine source
    :param topics: list of :class:`patchset.series.Topic`, in order
    :param root: folder whose files the ``Adds:`` trailers name
    """
    start(source, tree)
    for topic in topics:
        apply_exactly(tree, topic)
        for name in topic.adds:
            add(tree, topic, name, root)
        if topic.adds:
            git.git(tree, 'add', '--', *topic.adds)
        message = series.replace_trailers(
            topic.message, ('Topic',), [f'Topic: {topic.stack}/{topic.name}']
        )
        git.commit(tree, message, topic.author, topic.date)
    write_metadata(tree, pin.local_version)
    mark(tree, 'head', head(tree))


def start(source, tree):
    """Make the git work tree that holds the pristine source."""
    shutil.copytree(source, tree, ignore=shutil.ignore_patterns(*_MADE))
    git.git(tree, 'init', '--quiet', '--initial-branch', 'patched')
    exclude = tree / '.git' / 'info' / 'exclude'
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text('\n'.join(_MADE) + '\n')
    git.git(tree, 'config', 'core.autocrlf', 'false')
    git.git(tree, 'config', 'user.name', git.IDENTITY[0])
    git.git(tree, 'config', 'user.email', git.IDENTITY[1])
    git.git(tree, 'add', '--all')
    git.commit(tree, f'{source.name}\n')
    git.git(tree, 'tag', BASE)


def apply_exactly(tree, topic):
    """Apply a topic's hunks, each at the very line that it names.

    :raises patchset.errors.Error: a hunk does not apply, or only elsewhere
    """
    if not topic.diff:
        return
    try:
        git.git(tree, 'apply', '--index', '-', stdin=topic.diff)
    except errors.Error as error:
        raise errors.Error(f'{topic.path.name} does not apply: {error}')
    made = git.git(tree, 'diff', '--cached', '--full-index')
    for wanted, found in zip(hunks(topic.diff), hunks(made), strict=True):
        if wanted != found:
            raise errors.Error(
                f'{topic.path.name}: a hunk of {wanted[0]} does not apply '
                f'where it says ({wanted[1]}) but at an offset ({found[1]}): '
                f'mend the patch, or rebase it and run ./ks refresh'
            )


def hunks(diff):
    """File and position, as ``-10,7 +10,8``, of each hunk of a diff."""
    found, name = [], None
    for line in diff.splitlines():
        if line.startswith('diff --git '):
            name = line.split(' b/')[-1]
        position = re.match(r'@@ (-\d+(?:,\d+)? \+\d+(?:,\d+)?) @@', line)
        if position:
            found.append((name, position[1]))
    return found


def add(tree, topic, name, root):
    """Put one overlay file of a topic into the tree."""
    source, target = root / name, tree / name
    if not source.is_file():
        raise errors.Error(f'{topic.path.name}: Adds: {name}: no such file')
    if target.exists():
        raise errors.Error(
            f'{topic.path.name}: Adds: {name}: upstream or an earlier topic '
            f'has that file already'
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def head(tree):
    """Id of the tree's last commit."""
    return git.git(tree, 'rev-parse', 'HEAD').strip()


def commits(tree, base=BASE, last='HEAD'):
    """Ids of the commits of the topics, in the order of the series."""
    return git.git(tree, 'rev-list', '--reverse', f'{base}..{last}').split()


def assert_clean(tree, pin):
    """Stop where assembling anew would lose somebody's work.

    :raises patchset.errors.Error: the tree has edits, or commits that
        assemble did not make
    """
    if not (tree / '.git').is_dir():
        raise errors.Error(f'{tree} is not an assembled tree; move it away')
    edited = edits(tree)
    if edited:
        raise errors.Error(
            f'{tree} has edits ({edited[0].strip()}, {len(edited)} in all): '
            f'./ks refresh --topic TOPIC takes them into a topic; '
            f'git -C {tree} checkout . drops them'
        )
    if read_mark(tree, 'head') != head(tree):
        raise errors.Error(
            f'{tree} has commits that are not in patches/{pin.release}: '
            f'./ks refresh takes them; removing the folder drops them'
        )


def is_edited(tree):
    """Whether a tree is there and holds what assemble did not make."""
    return (tree / '.git').is_dir() and bool(
        read_mark(tree, 'head') != head(tree) or edits(tree)
    )


def edits(tree):
    """What is not committed in a tree, as git lists it."""
    return git.names(tree, 'status', '--porcelain', '-z')


def is_current(tree, pin):
    """Whether a tree was made from the patches and overlay as they are."""
    topics = series.load(pin.release)
    return read_mark(tree, 'inputs') == digest(pin, topics)


def mark(tree, name, text):
    """Note something about a tree, beside its history."""
    (tree / '.git' / f'patchset-{name}').write_text(text)


def read_mark(tree, name):
    """What :func:`mark` noted, or None."""
    path = tree / '.git' / f'patchset-{name}'
    return path.read_text() if path.is_file() else None


def pbr_variables(version):
    """Variables under which pbr takes a version and asks git for nothing."""
    return {
        'PBR_VERSION': version,
        'SKIP_GENERATE_AUTHORS': '1',
        'SKIP_GENERATE_RENO': '1',
        'SKIP_WRITE_GIT_CHANGELOG': '1',
    }


def write_metadata(tree, version):
    """Write ``keystone.egg-info`` of a tree again."""
    child.run(
        [sys.executable, '-c', _SETUP, '--quiet', 'egg_info'],
        cwd=tree,
        env=pbr_variables(version),
        what='reading the package metadata',
    )
