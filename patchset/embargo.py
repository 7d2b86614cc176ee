# SPDX-License-Identifier: Apache-2.0

"""Which topics close a security hole, by their release notes."""

import re

from patchset import paths
from patchset import pins
from patchset import series

_NOTES = 'releasenotes/notes/'
_SECTION = re.compile(r'^security:', re.M)


def is_security(topic, root=paths.ROOT):
    """Whether a release note of a topic has a section ``security``.

    :param topic: a :class:`patchset.series.Topic`
    :param root: folder that holds ``releasenotes/``
    """
    return any(
        _SECTION.search((root / name).read_text(encoding='utf-8'))
        for name in topic.adds
        if name.startswith(_NOTES)
    )


def names(topics, root=paths.ROOT):
    """Names of those of some topics that close a security hole, in order."""
    return [topic.name for topic in topics if is_security(topic, root)]


def by_topic(root=paths.ROOT):
    """The topics of all releases that close a security hole.

    :returns: {name: (subject, releases, oldest first)}, by name
    """
    found = {}
    for release in pins.releases(root / 'patches'):
        for topic in series.load(release, root / 'patches'):
            if is_security(topic, root):
                _, releases = found.get(topic.name, (None, []))
                found[topic.name] = (topic.subject, [*releases, release])
    return dict(sorted(found.items()))
