# SPDX-License-Identifier: Apache-2.0

"""Check the pin, the series, each patch, and the overlay of a release.

Each patch must apply exactly (no fuzz, no offset), be listed once, and list
its overlay files (Adds:) and the topics it needs (Depends:). Overlay files
must not exist upstream. The modules of each topic must be importable with only
its dependencies, and assembling and refreshing must change nothing. No size
may exceed its limit in patchset/sizes.py.
"""

from concurrent import futures

from patchset import assemble
from patchset import child
from patchset import dependencies
from patchset import environment
from patchset import errors
from patchset import paths
from patchset import pins
from patchset import progress
from patchset import series
from patchset import sizes
from patchset import upstream
from patchset.commands import refresh

SUBJECT_LENGTH = 50  # as OpenStack asks of a commit


def run(args):
    """Check, and print the size of the series."""
    pin = pins.load(args.release)
    source = upstream.ensure(pin)
    where = environment.Environment(pin.release, 'test').ensure()
    size = check(pin, source, where.python)
    progress.say(f'{pin.release}: {size}')


def check(pin, source, python, root=paths.ROOT):
    """Check a release's patches and overlay.

    :param pin: a :class:`patchset.pins.Pin`
    :param source: folder of the pristine source
    :param python: interpreter of an environment that Keystone and its
        tests run in
    :param root: folder that holds ``patches/`` and the overlay
    :returns: how large the series is, in words
    :raises patchset.errors.Error: the first thing found out of order
    """
    topics = series.load(pin.release, root / 'patches')
    progress.step(f'{pin.release}: {len(topics)} topics')
    headers(topics)
    is_newest = pin.release == pins.newest(root / 'patches')
    dependencies.sizes(topics, is_newest)
    others = series.elsewhere(pin.release, root / 'patches')
    completeness(pin.release, topics, others, root)
    ownership(topics, others, source, root)
    with paths.temporary() as temporary:
        tree = temporary / 'tree'
        assemble.build(pin, source, topics, tree, root)
        progress.step('each patch applies exactly')
        round_trip(pin, tree, root)
        progress.step('assemble, then refresh, changes nothing')
        with futures.ThreadPoolExecutor() as pool:
            independent = pool.submit(
                dependencies.verify, tree, topics, temporary
            )
            importable(tree, topics, python)
            progress.step('each module of the topics imports')
            independent.result()
            progress.step('each topic stands on those it depends on')
    found = sizes.measured(topics, root)
    sizes.verify(found)
    return sizes.in_words(found)


def headers(topics):
    """Check what each patch's header says.

    :raises patchset.errors.Error: a subject is too long, a ``Forwarded:``
        trailer or a test is missing, or ``Depends:`` trailers are wrong
    """
    for topic in topics:
        file = topic.path.name
        if len(topic.subject) > SUBJECT_LENGTH:
            raise errors.Error(
                f'{file}: subject has {len(topic.subject)} characters, more '
                f'than {SUBJECT_LENGTH}'
            )
        if len(series.trailers(topic.message, 'Forwarded')) != 1:
            raise errors.Error(f'{file}: no Forwarded: trailer (no, or a URL)')
        tests = [name for name in topic.adds if '/tests/' in name]
        if not tests and 'b/keystone/tests/' not in topic.diff:
            raise errors.Error(f'{file}: no test comes with it')
    dependencies.headers(topics)


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
        topic's ``Adds:`` trailers or in two
    """
    owner, away = {}, set()
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
                away.add(name)
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


def round_trip(pin, tree, root):
    """Check that refreshing a fresh tree would change nothing.

    :raises patchset.errors.Error: a file would be written differently
    """
    for name, content in refresh.read(tree, pin.release).items():
        if (root / name).read_bytes() != content:
            raise errors.Error(
                f'{name} is not as ./ks refresh writes it: run ./ks refresh'
            )


def importable(tree, topics, python):
    """Import every module that the topics add or change.

    :raises patchset.errors.Error: one of them does not import
    """
    names = [
        name[:-3].removesuffix('/__init__').replace('/', '.')
        for topic in topics
        for name in dependencies.modules(topic)
    ]
    program = (
        'import importlib, sys; [*map(importlib.import_module, sys.argv[1:])]'
    )
    child.run(
        [python, '-P', '-W', 'ignore', '-c', program, *names],
        env={'PYTHONPATH': str(tree)},
        what='importing the modules of the topics',
    )
