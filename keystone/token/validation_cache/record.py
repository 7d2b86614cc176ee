# SPDX-License-Identifier: Apache-2.0

"""Validation results of tokens, independent of the caller.

A record is used for any caller, with and without the catalog: N callers and M
tokens need N + M records, not N × M.
"""

from collections.abc import Collection
import dataclasses
import datetime
import hashlib
import json
import sys
from typing import Any

from oslo_serialization import msgpackutils

from keystone.catalog import answer_text
from keystone.common.cache import facts
from keystone.models import token_model  # noqa: F401  (registers its handler)

#: Format version of shared records.
FORMAT = 3

# Marks the project id in a catalog. This byte does not occur in JSON.
_GAP = b'\0'
# Precedes the catalog in a body.
_CATALOG = b', "catalog": '

# Approximate size of the objects of a record and a fact, in bytes. It was
# measured, and includes what the allocator adds.
_OVERHEAD = 3500
_OF_FACT = 24


class Catalog:
    """The catalog of a response, equal for all projects except for their ids.

    :param text: bytes of JSON, with a gap for each project id
    """

    __slots__ = ('digest', 'text')

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.digest = hashlib.blake2b(text, digest_size=20).hexdigest()

    @property
    def size(self) -> int:
        return len(self.text) + 300

    def fill(self, project_id: bytes) -> bytes:
        return self.text.replace(_GAP, project_id)


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class Record:
    """The validation result of a token.

    :param keys: the keys of the facts
    :param prints: the fingerprints of the facts, joined in this order
    :param made: creation time in seconds since the epoch
    :param until: expiry in seconds since the epoch
    :param head: the response body up to the key of the catalog, or all of it
    :param tail: the rest of the body, after the catalog
    :param revocation: values to compare with revocation events; None if it is
        not the record of a token
    :param model: the serialized token model without the token id
    :param catalog: digest of the catalog, or None
    :param project: id of the project, or None
    :param target: target of policy rules for the token
    """

    keys: Collection[str]
    prints: bytes
    made: float
    until: float
    head: bytes
    tail: bytes = b''
    revocation: dict[str, Any] | None = None
    model: bytes = b''
    catalog: str | None = None
    project: str | None = None
    target: Collection[str | None] = ('', None)

    #: Number of the sync up to which the token is not revoked.
    cleared: int | None = dataclasses.field(default=None, init=False)
    #: The :class:`.decisions.Decisions` if the token was used as a caller's.
    caller: Any = dataclasses.field(default=None, init=False)
    #: The catalog, if record and catalog are not kept.
    own_catalog: Catalog | None = dataclasses.field(default=None, init=False)

    def __post_init__(self) -> None:
        # Records share most of them. Only plain strings can be interned.
        self.keys = tuple(sys.intern(str(key)) for key in self.keys)
        self.target = tuple(self.target)

    @property
    def size(self) -> int:
        """Approximate size in bytes."""
        return (
            _OVERHEAD
            + _OF_FACT * len(self.keys)
            + len(self.model)
            + len(self.head)
            + len(self.tail)
            + (0 if self.caller is None else self.caller.size)
        )

    def body(self, catalog: Catalog | None) -> bytes:
        """The body of the response, with or without a catalog."""
        if catalog is None:
            return self.head + self.tail
        filled = catalog.fill((self.project or '').encode())
        return b''.join((self.head, _CATALOG, filled, self.tail))

    def token(self, token_id: str) -> Any:
        """The token model, as a new object."""
        model = msgpackutils.loads(self.model)
        model.id = token_id
        return model

    def shown(self) -> dict[str, Any]:
        """The rendered token, without the catalog."""
        return json.loads(self.body(None))['token']

    def packed(self) -> bytes:
        """The serialized record, for the shared cache."""
        values = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.init
        }
        return msgpackutils.dumps(values)

    @classmethod
    def unpacked(cls, packed: bytes) -> 'Record':
        """The reverse of :meth:`packed`."""
        return cls(**msgpackutils.loads(packed))


def make(
    trace: facts.Trace,
    token: Any,
    shown: dict[str, Any],
    revocation: dict[str, Any] | None,
    now: float,
) -> tuple[Record, Catalog | None]:
    """Create the record of a token validated and rendered in a trace.

    :param token: the :class:`keystone.models.token_model.TokenModel`
    :param shown: what :func:`keystone.catalog.answer_text.render_response`
        returns
    :param revocation: values to compare with revocation events, or None
    :param now: seconds since the epoch, before anything was read
    """
    head, text, tail = (one.encode() for one in answer_text.parts(shown))
    catalog = None
    if text:
        head = head.removesuffix(_CATALOG)
        project = (token.project_id or '').encode()
        catalog = Catalog(text.replace(project, _GAP) if project else text)
    token_id, token.id = token.id, None
    try:
        model = msgpackutils.dumps(token)
    finally:
        token.id = token_id
    expires = datetime.datetime.fromisoformat(token.expires_at)
    record = Record(
        trace.facts, trace.fingerprints, now,
        min(trace.until, expires.timestamp()), head, tail, revocation, model,
        catalog.digest if catalog else None, token.project_id,
        (token.user_id, token.user['domain_id']),
    )  # fmt: skip
    return record, catalog
