# SPDX-License-Identifier: Apache-2.0

"""The series as an upstream reviewer takes it: one commit per topic."""

import pathlib
import tempfile

from patchset import assemble
from patchset import errors
from patchset import git
from patchset import neighbours
from patchset import series
from patchset import signing


def export(tree, topics, folder, only=(), signed_by=None):
    """Write the ``git am`` series of an assembled tree.

    Each patch holds its topic's hunks and overlay files; trailers that
    speak to this project's tooling are left out. Those that name a bug stay.

    :param tree: folder of the assembled tree
    :param topics: its topics, in order
    :param folder: where the ``NNNN-topic.patch`` files go; patches of an
        earlier export there are replaced
    :param only: names of topics: they and what they depend on, nothing else
    :param signed_by: name and address of the commits' author, who signs them
        off; without, they are as in the tree and have no Change-Id
    :returns: list of the paths written, in order
    :raises patchset.errors.Error: no such topic, or the topic needs one
        that its ``Depends:`` trailers do not name
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob('[0-9][0-9][0-9][0-9]-*.patch'):
        path.unlink()
    written = []
    for topic, clone in picked(tree, topics, only, signed_by):
        path = folder / f'{len(written) + 1:04d}-{topic.name}.patch'
        path.write_text(_format(clone))
        written.append(path)
    return written


def picked(tree, topics, only=(), signed_by=None):
    """Put the commits of topics onto a clone, one after the other.

    :param tree: as for :func:`export`, like the others
    :returns: generator of each topic and the folder of the clone, whose last
        commit is that topic's, for as long as the generator rests
    :raises patchset.errors.Error: as :func:`export` does
    """
    names = [topic.name for topic in topics]
    series.check_names(only, names)
    wanted = closure(topics, only or names)
    with tempfile.TemporaryDirectory() as temporary:
        clone = Clone(tree, topics, pathlib.Path(temporary), signed_by)
        made = []
        for topic in topics:
            if topic.name in wanted:
                made.append(topic.name)
                clone.make(made)
                yield topic, clone.folder


class Clone:
    """A clone in which some of the topics are put together.

    :param tree: folder of the assembled tree
    :param topics: its topics, in order
    :param temporary: a folder to make the clone in; ``folder`` is the clone's
    :param signed_by: as for :func:`export`
    """

    def __init__(self, tree, topics, temporary, signed_by=None):
        commits = assemble.commits(tree)
        self._commits = [*zip(topics, commits, strict=True)]
        self._signed_by = signed_by
        self.folder = temporary / 'clone'
        git.git(tree, 'clone', '--quiet', '--shared', tree, self.folder)
        # What was made for a topic is where later ones that need it start.
        self._made = {(): assemble.BASE}

    def make(self, wanted):
        """Put topics together, in the order of the series.

        :param wanted: their names
        :raises patchset.errors.Error: one does not apply
        """
        waiting = [one for one in self._commits if one[0].name in wanted]
        names = tuple(topic.name for topic, _ in waiting)
        start = max(
            n for n in range(len(names) + 1) if names[:n] in self._made
        )
        git.git(
            self.folder, 'checkout', '--quiet', '--force',
            self._made[names[:start]],
        )  # fmt: skip
        for number, (topic, commit) in enumerate(waiting[start:], start + 1):
            _pick(self.folder, topic, commit, self._signed_by)
            self._made[names[:number]] = assemble.head(self.folder)


def closure(topics, names):
    """Names of some topics and of all that they depend on."""
    by_name = {topic.name: topic for topic in topics}
    found, waiting = set(), [*names]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += by_name[one].depends
    return found


def _pick(clone, topic, commit, signed_by):
    """Put one topic's commit, with its public message, onto a clone."""
    try:
        git.git(
            clone, '-c', 'merge.conflictStyle=diff3', 'cherry-pick',
            '--no-commit', '--allow-empty', commit,
        )  # fmt: skip
    except errors.Error:
        try:
            neighbours.settle(clone)
        except errors.Error as error:
            git.git(clone, 'reset', '--quiet', '--hard')
            raise errors.Error(
                f'{topic.name} does not apply on the topics it depends on: '
                f'its Depends: trailers are incomplete ({error})'
            )
    git.commit(
        clone,
        signing.message(topic, signed_by),
        signed_by or topic.author,
        topic.date,
    )


def _format(clone):
    return git.git(
        clone, 'format-patch', '--stdout', '--zero-commit', '--no-signature',
        '--no-numbered', '--full-index', '--no-renames', '-1',
    )  # fmt: skip
