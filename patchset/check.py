# SPDX-License-Identifier: Apache-2.0

"""Is everything below patches/ and keystone/ in order?"""

import ast
from concurrent import futures
import dataclasses
import pathlib
import re
import tempfile

from patchset import assemble
from patchset import errors
from patchset import export
from patchset import git
from patchset import paths
from patchset import process
from patchset import progress
from patchset import refresh
from patchset import series

SUBJECT_LENGTH = 50  # as OpenStack asks of a commit


@dataclasses.dataclass(frozen=True)
class Figures:
    """How large the series is.

    ``changed`` and ``context`` count lines of upstream files: added or
    removed, and carried along unchanged; ``overlay`` counts lines of files
    of our own.
    """

    topics: int
    changed: int
    context: int
    overlay: int


def check(pin, source, python, root=paths.ROOT):
    """Check a release's patches and overlay.

    :param pin: a :class:`patchset.pins.Pin`
    :param source: folder of the pristine source
    :param python: interpreter of an environment that Keystone and its
        tests run in
    :param root: folder that holds ``patches/`` and the overlay
    :returns: a :class:`Figures`
    :raises patchset.errors.Error: the first thing found out of order
    """
    topics = series.load(pin.release, root / 'patches')
    progress.step(f'{pin.release}: {len(topics)} topics')
    headers(topics)
    others = series.elsewhere(pin.release, root / 'patches')
    completeness(pin.release, topics, others, root)
    ownership(topics, others, source, root)
    with tempfile.TemporaryDirectory() as temporary:
        tree = pathlib.Path(temporary) / 'tree'
        assemble.build(pin, source, topics, tree, root)
        progress.step('each patch applies exactly')
        round_trip(pin, tree, root)
        progress.step('assemble, then refresh, changes nothing')
        with futures.ThreadPoolExecutor() as pool:
            folder = pathlib.Path(temporary)
            independent = pool.submit(independence, tree, topics, folder)
            importable(tree, topics, python)
            progress.step('each module of the topics imports')
            independent.result()
            progress.step('each topic stands on those it depends on')
    return figures(topics, root)


def headers(topics):
    """Check what the patches' headers say of each other.

    :raises patchset.errors.Error: a subject is too long, a ``Forwarded:``
        trailer is missing, or a ``Depends:`` trailer names a topic that is
        not there, comes later or closes a circle
    """
    place = {topic.name: number for number, topic in enumerate(topics)}
    for topic in topics:
        file = topic.path.name
        if len(topic.subject) > SUBJECT_LENGTH:
            raise errors.Error(
                f'{file}: subject has {len(topic.subject)} characters, more '
                f'than {SUBJECT_LENGTH}'
            )
        if len(series.trailers(topic.message, 'Forwarded')) != 1:
            raise errors.Error(f'{file}: no Forwarded: trailer (no, or a URL)')
        for name in topic.depends:
            if name not in place:
                raise errors.Error(f'{file}: Depends: {name}: no such topic')
    for topic in topics:
        for name in topic.depends:
            if topic.name in export.closure(topics, [name]):
                raise errors.Error(
                    f'{topic.path.name}: Depends: {name}: a circle'
                )
            if place[name] > place[topic.name]:
                raise errors.Error(
                    f'{topic.path.name}: Depends: {name}: it comes later in '
                    f'the series'
                )


def completeness(release, topics, others, root):
    """Check that a topic of another release is in this one, or why not.

    :param others: what :func:`patchset.series.elsewhere` returns
    :raises patchset.errors.Error: a topic is left out without a reason, or
        the series gives a reason for what is in it or nowhere
    """
    here = {topic.name for topic in topics}
    reasons = series.without(release, root / 'patches')
    for other, name in others:
        if name not in here and name not in reasons:
            raise errors.Error(
                f'series of {release}: no {name}, which {other} has: add it, '
                f'or a line "# without {name}: REASON"'
            )
    for name in reasons:
        if name in here:
            raise errors.Error(f'series of {release}: with and without {name}')
        if name not in {name for _, name in others}:
            raise errors.Error(
                f'series of {release}: without {name}: no release has it'
            )


def ownership(topics, others, source, root):
    """Check that each overlay file belongs to one topic and is ours.

    :param others: what :func:`patchset.series.elsewhere` returns
    :raises patchset.errors.Error: upstream has the file, or it is in no
        topic's ``Adds:`` trailers or in two, or a topic has no test
    """
    owner, away = {}, {}
    here = {topic.name for topic in topics}
    for topic in topics:
        for name in topic.adds:
            if name in owner:
                raise errors.Error(
                    f'{topic.path.name}: Adds: {name}: topic {owner[name]} '
                    f'adds it too'
                )
            owner[name] = topic.name
    for (other, _), topic in others.items():
        for name in topic.adds:
            if owner.get(name, topic.name) != topic.name:
                raise errors.Error(
                    f'{topic.path.name} of {other}: Adds: {name}: topic '
                    f'{owner[name]} adds it here'
                )
            if topic.name not in here:
                away[name] = topic.name
    present = [
        path.relative_to(root).as_posix()
        for path in sorted((root / 'keystone').rglob('*'))
        if path.is_file() and path.suffix != '.pyc'
    ]
    for name in [*present, *owner]:
        if name not in away and (source / name).exists():
            raise errors.Error(f'{name}: upstream has a file of that name')
    for name in present:
        if name not in owner and name not in away:
            raise errors.Error(f"{name} is in no topic's Adds: trailers")
    for topic in topics:
        tests = [name for name in topic.adds if '/tests/' in name]
        if not tests and 'b/keystone/tests/' not in topic.diff:
            raise errors.Error(f'{topic.path.name}: no test comes with it')


def round_trip(pin, tree, root):
    """Check that refreshing a fresh tree would change nothing.

    :raises patchset.errors.Error: a file would be written differently
    """
    patches, overlay = refresh.read(tree)
    wanted = {
        f'patches/{pin.release}/{name}': patches[name] for name in patches
    }
    for name, content in {**wanted, **overlay}.items():
        if (root / name).read_bytes() != content:
            raise errors.Error(
                f'{name} is not as ./ks refresh writes it: run ./ks refresh'
            )


def independence(tree, topics, temporary):
    """Check each topic on nothing but the topics that it depends on.

    There it must apply, and what its modules import from keystone must be
    there.

    :raises patchset.errors.Error: a ``Depends:`` trailer is missing
    """
    commits = git.git(
        tree, 'rev-list', '--reverse', f'{assemble.BASE}..HEAD'
    ).split()
    clone = temporary / 'clone'
    git.git(tree, 'clone', '--quiet', '--shared', tree, clone)
    # What was made for a topic is where later ones that need it start.
    made = {(): assemble.BASE}
    for topic in topics:
        wanted = export.closure(topics, [topic.name])
        waiting = [
            (one, commit)
            for one, commit in zip(topics, commits, strict=True)
            if one.name in wanted
        ]
        names = tuple(one.name for one, _ in waiting)
        start = max(n for n in range(len(names)) if names[:n] in made)
        git.git(clone, 'checkout', '--quiet', made[names[:start]])
        for number, (one, commit) in enumerate(waiting[start:], start + 1):
            export.pick(clone, one, commit)
            made[names[:number]] = assemble.head(clone)
        for name in modules(topic):
            for needed in imports(clone / name):
                if not stands(clone, needed):
                    raise errors.Error(
                        f'{topic.name}: {name} imports {needed}, which no '
                        f'topic that it depends on has'
                    )


def modules(topic):
    """Paths of the Python modules that a topic adds or changes."""
    changed = {name for name, _ in assemble.hunks(topic.diff)}
    return [
        name
        for name in sorted({*topic.adds, *changed})
        if name.startswith('keystone/') and name.endswith('.py')
    ]


def imports(path):
    """Dotted names that a module imports from keystone."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f'{node.module}.{alias.name}' for alias in node.names]
        yield from (name for name in names if name.startswith('keystone.'))


def stands(tree, name):
    """Whether a dotted name can be a module of a tree, or inside one."""
    path = tree / name.replace('.', '/')
    if path.is_dir() or path.with_suffix('.py').is_file():
        return True
    if path.parent.with_suffix('.py').is_file():
        return True
    package = path.parent / '__init__.py'
    return package.is_file() and bool(
        re.search(rf'\b{path.name}\b', package.read_text())
    )


def importable(tree, topics, python):
    """Import every module that the topics add or change.

    :raises patchset.errors.Error: one of them does not import
    """
    names = [
        name[:-3].removesuffix('/__init__').replace('/', '.')
        for topic in topics
        for name in modules(topic)
    ]
    process.run(
        [python, '-P', '-W', 'ignore', '-c', _IMPORT, *names],
        env={'PYTHONPATH': str(tree)},
        what='importing the modules of the topics',
    )


_IMPORT = (
    'import importlib, sys; [*map(importlib.import_module, sys.argv[1:])]'
)


def figures(topics, root):
    """Count the lines of the series and of the overlay."""
    changed = context = overlay = 0
    for topic in topics:
        for line in topic.diff.splitlines():
            if line[:1] in '+-' and line[:4] not in ('+++ ', '--- '):
                changed += 1
            elif line[:1] == ' ':
                context += 1
        for name in topic.adds:
            if name.startswith('keystone/'):
                overlay += len((root / name).read_text().splitlines())
    return Figures(len(topics), changed, context, overlay)
