# SPDX-License-Identifier: Apache-2.0

"""The series as an upstream reviewer takes it: one commit per topic."""

import difflib
import re

from patchset import assemble
from patchset import errors
from patchset import git
from patchset import paths
from patchset import pins
from patchset import series
from patchset import signing

# Git's diff3 style: our lines, those the commit began with, those it ended
# with.
_CONFLICT = re.compile(
    r'^<<<<<<< .*\n(?P<ours>(?:.*\n)*?)'
    r'^\|\|\|\|\|\|\| .*\n(?P<before>(?:.*\n)*?)'
    r'^=======\n(?P<after>(?:.*\n)*?)'
    r'^>>>>>>> .*\n',
    re.MULTILINE,
)
_SECURITY = re.compile(r'^security:', re.MULTILINE)  # in a release note


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
        path.write_text(
            git.git(
                clone, 'format-patch', '--stdout', '--zero-commit', '-1',
                '--no-signature', '--no-numbered', '--full-index',
                '--no-renames',
            )
        )  # fmt: skip
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
    with paths.temporary() as temporary:
        clone = Clone(tree, topics, temporary, signed_by)
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
            settle(clone)
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


def settle(tree):
    """Resolve the conflicts of a cherry-pick that failed, in its work tree.

    Git refuses to insert a line where the line beside it is missing. A topic
    that adds an import beside that of another topic does not depend on that
    topic.

    :param tree: folder of a work tree, in which ``git cherry-pick`` with
        ``merge.conflictStyle=diff3`` has stopped
    :raises patchset.errors.Error: the commit removes or replaces lines that
        are not there, or a file is missing
    """
    listed = git.names(tree, 'ls-files', '--unmerged', '-z')
    stages = {}
    for entry in listed:
        description, _, name = entry.partition('\t')
        stages.setdefault(name, set()).add(description.split()[-1])
    if not stages:
        raise errors.Error('no conflict of lines')
    for name, found in stages.items():
        if found != {'1', '2', '3'}:
            raise errors.Error(f'{name} is missing or new')
        path = tree / name
        path.write_text(_CONFLICT.sub(_resolve, path.read_text()))
    git.git(tree, 'add', '--', *stages)


def _resolve(conflict):
    """The lines that stand for a conflict."""
    ours, before, after = (
        conflict[part].splitlines(keepends=True)
        for part in ('ours', 'before', 'after')
    )
    result = []
    done = 0  # lines of ours that are in the result
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for operation, first, last, start, end in matcher.get_opcodes():
        if operation == 'equal':
            for line in before[first:last]:
                if line in ours[done:]:
                    place = ours.index(line, done) + 1
                    result += ours[done:place]
                    done = place
        elif operation == 'insert':
            result += after[start:end]
        else:
            # Lines that the commit removes must be there, one by one.
            removed = before[first:last]
            if ours[done : done + len(removed)] != removed:
                raise errors.Error(f'not there: {removed[0].strip()}')
            done += len(removed)
            result += after[start:end]
    return ''.join(result + ours[done:])


def security(topics, root=paths.ROOT):
    """Those of some topics that close a security hole, by their notes.

    :param topics: list of :class:`patchset.series.Topic`
    :param root: folder that holds ``releasenotes/``
    """
    return [
        topic
        for topic in topics
        if any(
            _SECURITY.search((root / name).read_text(encoding='utf-8'))
            for name in topic.adds
            if name.startswith('releasenotes/notes/')
        )
    ]


def security_by_topic(root=paths.ROOT):
    """The topics of all releases that close a security hole.

    :returns: {name: (subject, releases, oldest first)}, by name
    """
    found = {}
    for release in pins.releases(root / 'patches'):
        for topic in security(series.load(release, root / 'patches'), root):
            _, releases = found.get(topic.name, (None, []))
            found[topic.name] = (topic.subject, [*releases, release])
    return dict(sorted(found.items()))
