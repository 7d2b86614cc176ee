# SPDX-License-Identifier: Apache-2.0

"""Validation results of tokens, independent of the caller.

A record is used for any caller, with and without the catalog: N callers and M
tokens need N + M records, not N × M. The catalog is not part of it, but filled
into each response: a change of the catalog invalidates no record.
"""

from collections.abc import Collection
import dataclasses
import datetime
import json
import sys
from typing import Any

from oslo_serialization import msgpackutils

from keystone.catalog import answer_text
from keystone.common.cache import facts
from keystone.models import token_model  # noqa: F401  (registers its handler)

#: Format version of shared records.
FORMAT = 5

# Precedes the catalog in a body.
_CATALOG = b', "catalog": '

# Approximate size of the objects of a record and a fact, in bytes. It was
# measured, and includes what the allocator adds.
_OVERHEAD = 3500
_OF_FACT = 24


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
    :param catalog: ids of the user and the project of the catalog; None if the
        response has no catalog
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
    catalog: Collection[str | None] | None = None
    target: Collection[str | None] = ('', None)

    #: Number of the sync up to which the token is not revoked.
    cleared: int | None = dataclasses.field(default=None, init=False)
    #: The :class:`.decisions.Decisions` if the token was used as a caller's.
    caller: Any = dataclasses.field(default=None, init=False)

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

    def body(self, catalog: str | None) -> bytes:
        """The body of the response, with or without a catalog in JSON."""
        if catalog is None:
            return self.head + self.tail
        return b''.join((self.head, _CATALOG, catalog.encode(), self.tail))

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
) -> Record:
    """Create the record of a token validated and rendered in a trace.

    :param token: the :class:`keystone.models.token_model.TokenModel`
    :param shown: what :func:`keystone.catalog.answer_text.render_response`
        returns
    :param revocation: values to compare with revocation events, or None
    :param now: seconds since the epoch, before anything was read
    """
    head, catalog, tail = answer_text.parts(shown)
    token_id, token.id = token.id, None
    try:
        model = msgpackutils.dumps(token)
    finally:
        token.id = token_id
    expires = datetime.datetime.fromisoformat(token.expires_at)
    return Record(
        trace.facts, trace.fingerprints, now,
        min(trace.until, expires.timestamp()),
        head.encode().removesuffix(_CATALOG), tail.encode(), revocation, model,
        catalog and (catalog.user_id, catalog.project_id),
        (token.user_id, token.user['domain_id']),
    )  # fmt: skip
