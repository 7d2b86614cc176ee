# SPDX-License-Identifier: Apache-2.0

"""Headers of successful responses.

They are the same for all tokens: those of a normally processed response are
reused for others with the same environment, with the token, the request id and
the length of each.
"""

import uuid

from keystone.common import local_store

# Maximum number of environments whose headers are kept.
_MOST = 100

_SUBJECT = 'x-subject-token'
_REQUEST = 'x-openstack-request-id'
_LENGTH = 'content-length'
_NEEDED = (_REQUEST, _LENGTH)
_OWN = frozenset((_SUBJECT, *_NEEDED))


class Headers:
    """The headers of responses by environment."""

    def __init__(self) -> None:
        self._known = local_store.LocalStore(_MOST)

    def learn(
        self,
        surroundings: tuple,
        status: str,
        headers: list,
        subject: str | None,
    ) -> None:
        """Learn from a normally processed response.

        :param subject: the token in the headers, or None
        """
        names = [name.lower() for name, _value in headers]
        values = dict(zip(names, (value for _name, value in headers)))
        if (
            status != '200 OK'
            or 'set-cookie' in names
            or any(names.count(name) != 1 for name in _NEEDED)
            or names.count(_SUBJECT) != (subject is not None)
            or values.get(_SUBJECT) != subject
        ):
            return
        pattern = [
            (name, None if name.lower() in _OWN else value)
            for name, value in headers
        ]
        if self._known.setdefault(surroundings, pattern) != pattern:
            # Headers that differ between responses cannot be predicted.
            self._known.put(surroundings, ())

    def of(
        self, surroundings: tuple, subject: str | None, length: int
    ) -> list | None:
        """The headers of a response; None if unknown."""
        pattern = self._known.get(surroundings)
        if not pattern:
            return None
        own = {
            _SUBJECT: subject,
            _REQUEST: f'req-{uuid.uuid4()}',
            _LENGTH: str(length),
        }
        return [
            (name, own[name.lower()] if value is None else value)
            for name, value in pattern
        ]
