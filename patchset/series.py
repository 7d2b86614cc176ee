# SPDX-License-Identifier: Apache-2.0

"""The topics of a release: its series, and each patch's header.

A topic is one ``*.patch`` in ``git format-patch`` form, named by the series
of its stack, and the overlay files that its ``Adds:`` trailers name.
"""

import collections
import dataclasses
import email
import email.policy
import email.utils
import pathlib
import re

from patchset import errors
from patchset import paths
from patchset import pins

# Trailers that speak to this project's tooling, not to an upstream reader.
HOUSE_TRAILERS = ('Adds', 'Depends', 'Forwarded', 'Topic')
# The stacks, in the order in which they are applied, and what each may stand
# on beside itself.
STACKS = {
    'base': (),
    'correctness': ('base',),
    'revocation': ('base',),
    'cache': ('base',),
    'validation': ('base', 'revocation', 'cache'),
}
_TRAILER = re.compile(r'([A-Z][A-Za-z]*(?:-[A-Za-z]+)*): (.*\S)')
_WITHOUT = re.compile(r'^# without ([a-z0-9-]+): (.+(?:\n#   .+)*)$', re.M)


@dataclasses.dataclass(frozen=True)
class Topic:
    """One topic: what its patch's header says.

    ``name`` is the file name without ``.patch``; ``adds`` are paths of
    overlay files; ``depends`` are names of topics; ``diff`` is empty for a
    topic that changes no upstream file.
    """

    name: str
    path: pathlib.Path
    author: tuple
    date: str
    message: str
    diff: str

    @property
    def subject(self):
        """First line of the commit message."""
        return self.message.partition('\n')[0]

    @property
    def stack(self):
        """Name of the stack that the topic belongs to."""
        return self.path.parent.name

    @property
    def adds(self):
        """Paths of the topic's overlay files, in the header's order."""
        return trailers(self.message, 'Adds')

    @property
    def depends(self):
        """Names of the topics that this one needs."""
        return [*self.reasons]

    @property
    def reasons(self):
        """Why it needs them: {name: reason}.

        ``Depends: TOPIC (REASON)``; the reason is empty where its imports or
        its hunks show the need.
        """
        return {
            name: reason.strip('()')
            for name, _, reason in (
                value.partition(' ')
                for value in trailers(self.message, 'Depends')
            )
        }


def _trailer_block(message):
    """Split a message into its text and (line, key, value) per trailer.

    The last paragraph holds trailers if each of its lines is one.
    """
    head, blank, last = message.strip().rpartition('\n\n')
    found = [_TRAILER.fullmatch(line) for line in last.splitlines()]
    if not blank or not all(found):
        return message.strip(), []
    return head, [(one[0], one[1], one[2]) for one in found]


def trailers(message, key):
    """Values of a trailer in the last paragraph of a commit message."""
    return [
        value for _, name, value in _trailer_block(message)[1] if name == key
    ]


def place(message):
    """The stack and the name in the ``Topic:`` trailer of a commit.

    :returns: tuple of both, each empty where the trailer lacks it
    """
    stack, _, name = ''.join(trailers(message, 'Topic')[:1]).rpartition('/')
    return stack, name


def replace_trailers(message, keys, lines=()):
    """Drop the trailers of ``keys`` from a message, then add ``lines``."""
    head, block = _trailer_block(message)
    kept = [line for line, name, _ in block if name not in keys]
    if kept or lines:
        return f'{head}\n\n' + '\n'.join([*kept, *lines]) + '\n'
    return f'{head}\n'


def parse(path):
    """Read one patch file.

    :raises patchset.errors.Error: it is not in ``git format-patch`` form
    """
    try:
        mail = email.message_from_bytes(
            path.read_bytes().partition(b'\n')[2], policy=email.policy.default
        )
        # git writes the diff in UTF-8 and often says nothing of a charset.
        body = mail.get_payload(decode=True).decode(
            mail.get_content_charset('utf-8')
        )
    except (LookupError, OSError, UnicodeError) as error:
        raise errors.Error(f'{path.name}: unreadable: {error}')
    if not mail['Subject'] or not mail['From'] or not mail['Date']:
        raise errors.Error(
            f'{path.name}: not in git format-patch form: it needs From:, '
            f'Date: and Subject: headers'
        )
    subject = re.sub(r'^\[PATCH[^]]*\] ', '', str(mail['Subject']))
    text, diff = split(body)
    return Topic(
        name=path.stem,
        path=path,
        author=email.utils.parseaddr(str(mail['From'])),
        date=str(mail['Date']),
        message=f'{subject}\n\n{text.strip()}\n',
        diff=diff,
    )


def split(body):
    """Split a patch's body into its commit message and its diff."""
    match = re.search(r'^diff --git ', body, re.MULTILINE)
    head, diff = (
        (body[: match.start()], body[match.start() :]) if match else (body, '')
    )
    return re.split(r'^---$', head, maxsplit=1, flags=re.MULTILINE)[0], diff


def file_names(release, stack, patches=paths.PATCHES):
    """What the series of a stack lists; comments and blank lines left out."""
    path = patches / release / stack / 'series'
    if not path.is_file():
        raise errors.Error(f'{path} is missing')
    lines = (line.partition('#')[0].strip() for line in path.open())
    return [line for line in lines if line]


def without(release, patches=paths.PATCHES):
    """Topics that a release goes without, and why: {name: reason}.

    A comment of a series says so, ``# without TOPIC: REASON``; further lines
    of the reason begin with three blanks.
    """
    return {
        name: ' '.join(reason.replace('\n#', ' ').split())
        for stack in STACKS
        for name, reason in _WITHOUT.findall(
            (patches / release / stack / 'series').read_text()
        )
    }


def comments(release, stack, patches=paths.PATCHES):
    """The comments of a stack's series, as text."""
    path = patches / release / stack / 'series'
    lines = path.read_text().splitlines()
    return ''.join(f'{line}\n' for line in lines if line[:1] == '#')


def elsewhere(release, patches=paths.PATCHES):
    """Topics of the other releases: {(release, name): Topic}."""
    return {
        (other, topic.name): topic
        for other in pins.releases(patches)
        if other != release
        for topic in load(other, patches)
    }


def check_names(names, known):
    """Refuse what is no topic.

    :param known: names of all topics, in the order to tell them
    :raises patchset.errors.UsageError: one of the names is not among them
    """
    for name in names:
        if name not in known:
            raise errors.UsageError(
                f'no topic {name}; there are: {", ".join(known)}'
            )


def repeated(names):
    """Those that are there more than once."""
    return [
        name
        for name, number in collections.Counter(names).items()
        if number > 1
    ]


def load(release, patches=paths.PATCHES):
    """Read all topics of a release, stack by stack, in order.

    :raises patchset.errors.Error: the series and the patches do not belong
        together, one by one
    """
    found = []
    for stack in STACKS:
        folder = patches / release / stack
        names = file_names(release, stack, patches)
        for name in repeated(names):
            raise errors.Error(
                f'series {stack} of {release} lists {name} twice'
            )
        for name in names:
            if not (folder / name).is_file():
                raise errors.Error(
                    f'series {stack} of {release}: no such patch: {name}'
                )
        found += [parse(folder / name) for name in names]
    listed = {topic.path for topic in found}
    for path in sorted((patches / release).rglob('*.patch')):
        if path not in listed:
            raise errors.Error(f'orphan: {path.name} is in no series line')
    for name in repeated(topic.name for topic in found):
        raise errors.Error(f'{release}: {name} is in two stacks')
    return found
