# SPDX-License-Identifier: Apache-2.0

"""Sizes of the series and of the code, with a limit for each.

A reviewer has to read all of it. Who needs more changes a limit here, and
gives the reason in the commit message.
"""

import collections

from patchset import errors

_CODE = 'lines changed in upstream code'
_DOCS = 'lines changed in upstream documentation'
_FOLDERS = ('keystone', 'patchset', 'bench')
_DOCUMENTATION = ('diff --git a/doc/', 'diff --git a/api-ref/')

#: Maximum sizes. Lines in a folder do not include those of tests.
LIMITS = {
    'topics': 44,
    _CODE: 672,
    'lines in keystone': 11406,
    'lines in patchset': 12305,
    'lines in bench': 6450,
}


def measured(topics, root):
    """The sizes of a series, and of the code of the project.

    :param topics: list of :class:`patchset.series.Topic`
    :param root: folder that holds the overlay and the tooling
    :returns: {name of the size: number}, with the names of :data:`LIMITS`
    """
    found = collections.Counter({'topics': len(topics)})
    for topic in topics:
        what = _CODE
        for line in topic.diff.splitlines():
            if line.startswith('diff --git '):
                is_docs = line.startswith(_DOCUMENTATION)
                what = _DOCS if is_docs else _CODE
            elif line[:1] in ('+', '-') and line[:4] not in ('+++ ', '--- '):
                found[what] += 1
    for folder in _FOLDERS:
        found[f'lines in {folder}'] = sum(
            len(path.read_text().splitlines())
            for path in (root / folder).rglob('*.py')
            if 'tests' not in path.relative_to(root).parts
        )
    return dict(found)


def verify(sizes):
    """Check that no size exceeds its limit.

    :param sizes: what :func:`measured` returns
    :raises patchset.errors.Error: one does
    """
    for name, limit in LIMITS.items():
        if sizes[name] > limit:
            raise errors.Error(
                f'{sizes[name]} {name}, more than the limit of {limit} in '
                'patchset/sizes.py'
            )


def in_words(sizes):
    """The sizes in one line."""
    return '; '.join(f'{number} {name}' for name, number in sizes.items())
