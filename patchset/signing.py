# SPDX-License-Identifier: Apache-2.0

"""What upstream's review asks of a commit: a signature and a Change-Id."""

import hashlib
import re

from patchset import errors
from patchset import series

# git drops angle brackets and line ends from names, or refuses them.
_SIGNER = re.compile(r'([^<>]*\w[^<>]*?) <([^\s<>@]+@[^\s<>@]+)>')


def signer(text):
    """Read ``Name <address>``.

    :returns: name and address
    :raises patchset.errors.UsageError: it is in another form
    """
    found = _SIGNER.fullmatch(text.strip())
    if not found or not text.isprintable():
        raise errors.UsageError(
            f'--signoff: {text!r} must have the form "Name <address>"'
        )
    return found[1], found[2]


def change_id(topic):
    """The Change-Id under which Gerrit knows a topic.

    It depends on the topic's name alone: a backport keeps the Change-Id of
    the change on master, so that Gerrit shows them as one.

    :param topic: a :class:`patchset.series.Topic`, whose own trailer, such
        as that of an upstream change it backports, comes first
    """
    own = series.trailers(topic.message, 'Change-Id')
    if own:
        return own[0]
    text = f'keystone-revcache topic {topic.name}\n'
    return f'I{hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()}'


def message(topic, signed_by=None):
    """The commit message of a topic as a reviewer gets it.

    :param signed_by: name and address of who signs it off; without, there is
        no Change-Id either
    """
    public = series.replace_trailers(topic.message, series.HOUSE_TRAILERS)
    if signed_by is None:
        return public
    name, address = signed_by
    signatures = series.trailers(public, 'Signed-off-by')
    # Who signs last stands last, and once.
    signatures = [one for one in signatures if one != f'{name} <{address}>']
    signatures.append(f'{name} <{address}>')
    return series.replace_trailers(
        public,
        ('Change-Id', 'Signed-off-by'),
        [
            f'Change-Id: {change_id(topic)}',
            *(f'Signed-off-by: {one}' for one in signatures),
        ],
    )
