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
    commits = assemble.commits(tree)
    with tempfile.TemporaryDirectory() as temporary:
        clone = pathlib.Path(temporary) / 'clone'
        git.git(tree, 'clone', '--quiet', '--shared', '--no-tags', tree, clone)
        git.git(
            clone,
            'checkout',
            '--quiet',
            f'{commits[0]}^' if commits else 'HEAD',
        )
        for topic, commit in zip(topics, commits, strict=True):
            if topic.name in wanted:
                pick(clone, topic, commit, signed_by)
                yield topic, clone


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


def pick(clone, topic, commit, signed_by=None):
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
