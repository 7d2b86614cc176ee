# SPDX-License-Identifier: Apache-2.0

"""The series as a distribution takes it: quilt patches with DEP-3 headers.

https://dep-team.pages.debian.net/deps/dep3/ says what the headers mean.
"""

import email.utils

from patchset import export as exports
from patchset import git
from patchset import series

# Below debian/patches/, where a distribution has patches of its own.
SUBFOLDER = 'revcache'
BUG = 'https://bugs.launchpad.net/keystone/+bug/'


def export(tree, topics, folder, only=()):
    """Write the patches of an assembled tree, and their series.

    The other parameters are those of :func:`patchset.export.export`.

    :param folder: gets ``series`` and, in a folder, one patch per topic; an
        earlier export there is replaced
    :returns: list of the paths written, the series last
    """
    patches = folder / SUBFOLDER
    patches.mkdir(parents=True, exist_ok=True)
    for path in patches.glob('*.patch'):
        path.unlink()
    written = []
    for topic, clone in exports.picked(tree, topics, only):
        path = patches / f'{topic.name}.patch'
        path.write_text(f'{header(topic)}---\n{_diff(clone)}')
        written.append(path)
    listed = folder / 'series'
    listed.write_text(
        ''.join(f'{path.relative_to(folder)}\n' for path in written)
    )
    return [*written, listed]


def header(topic):
    """The DEP-3 header of a topic's patch.

    :param topic: a :class:`patchset.series.Topic`
    """
    name, address = topic.author
    fields = [
        ('Author', f'{name} <{address}>'),
        ('Forwarded', *series.trailers(topic.message, 'Forwarded')),
        *(('Bug', f'{BUG}{number}') for number in _bugs(topic)),
        (
            'Last-Update',
            email.utils.parsedate_to_datetime(topic.date).date().isoformat(),
        ),
    ]
    text = series.replace_trailers(topic.message, series.HOUSE_TRAILERS)
    subject, *more = text.strip().splitlines()
    lines = [f'Description: {subject}']
    # The first blank line parts the subject from the rest by itself.
    lines += [f' {line}' if line else ' .' for line in more[1:]]
    lines += [f'{key}: {value}' for key, value in fields]
    return '\n'.join(lines) + '\n'


def _bugs(topic):
    """Numbers of the Launchpad bugs that a topic names."""
    return [
        value.lstrip('#')
        for key in ('Closes-Bug', 'Partial-Bug', 'Related-Bug')
        for value in series.trailers(topic.message, key)
    ]


def _diff(clone):
    return git.git(
        clone, 'diff', '--no-renames', '--full-index', '--no-ext-diff',
        'HEAD^', 'HEAD',
    )  # fmt: skip
