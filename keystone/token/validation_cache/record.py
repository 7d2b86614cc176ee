# SPDX-License-Identifier: Apache-2.0

"""What a token was found to be, apart from who asks for it.

A record serves any caller, with the catalog and without: N callers and M
tokens make N + M records, not N × M.
"""

import datetime
import hashlib
import json
from typing import Any

from oslo_serialization import msgpackutils

from keystone.catalog import answer_text
from keystone.common.cache import facts
from keystone.models import token_model  # noqa: F401  (registers its handler)

#: The version of the form of records that processes share.
FORMAT = 2

# Separates the text around a project's id in a catalog. JSON has no such byte.
_GAP = b'\0'
# Stands before the catalog in a body.
_CATALOG = b', "catalog": '

# About what the objects of a record and of a fact take, in bytes.
_OVERHEAD = 1200
_OF_FACT = 120


class Catalog:
    """The catalog of an answer, alike for all projects but for their ids.

    :param text: bytes of JSON, with a gap for each id of the project
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


class Record:
    """What a token was found to be.

    :param facts_: each fingerprint by the key of the fact
    :param made: when it was made, in seconds since the epoch
    :param until: from when on it does not hold any more, likewise
    :param revocation: what revocation events are compared with
    :param model: the token model without the token, serialized
    :param head: the answer's body up to the catalog's key, or the whole of it
    :param tail: the rest of the body, behind the catalog
    :param catalog: digest of the catalog, or None
    :param project: id of the project, or None
    :param target: what policy rules are told of the token
    """

    __slots__ = (
        'caller', 'catalog', 'cleared', 'facts', 'head', 'made', 'model',
        'own_catalog', 'project', 'revocation', 'tail', 'target', 'until',
    )  # fmt: skip

    def __init__(
        self,
        facts_: dict[str, bytes],
        made: float,
        until: float,
        revocation: dict[str, Any],
        model: bytes,
        head: bytes,
        tail: bytes,
        catalog: str | None,
        project: str | None,
        target: tuple[str, str | None],
    ) -> None:
        self.facts = facts_
        self.made = made
        self.until = until
        self.revocation = revocation
        self.model = model
        self.head = head
        self.tail = tail
        self.catalog = catalog
        self.project = project
        self.target = tuple(target)
        #: Number of the sync by whose events the token is not revoked.
        self.cleared: int | None = None
        #: What policy rules are told of it as a caller, once it was one.
        self.caller: Any = None
        #: The catalog, where neither is kept.
        self.own_catalog: Catalog | None = None

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        return (
            _OVERHEAD
            + _OF_FACT * len(self.facts)
            + len(self.model)
            + len(self.head)
            + len(self.tail)
        )

    def body(self, catalog: Catalog | None) -> bytes:
        """The body of the answer, with a catalog or without."""
        if catalog is None:
            return self.head + self.tail
        filled = catalog.fill((self.project or '').encode())
        return b''.join((self.head, _CATALOG, filled, self.tail))

    def token(self, token_id: str) -> Any:
        """The token model, each time a new one."""
        model = msgpackutils.loads(self.model)
        model.id = token_id
        return model

    def shown(self) -> dict[str, Any]:
        """What the API shows of the token, but for the catalog."""
        return json.loads(self.body(None))['token']

    def packed(self) -> bytes:
        """The record as processes share it."""
        values = {
            name: getattr(self, name)
            for name in (
                'facts', 'made', 'until', 'revocation', 'model', 'head',
                'tail', 'catalog', 'project', 'target',
            )
        }  # fmt: skip
        return msgpackutils.dumps(values)

    @classmethod
    def unpacked(cls, packed: bytes) -> 'Record':
        """The reverse of :meth:`packed`."""
        values = msgpackutils.loads(packed)
        values['facts_'] = values.pop('facts')
        return cls(**values)


def make(
    trace: facts.Trace,
    token: Any,
    shown: dict[str, Any],
    revocation: dict[str, Any],
    now: float,
) -> tuple[Record, Catalog | None]:
    """Make the record of a token that was validated and rendered in a trace.

    :param token: the :class:`keystone.models.token_model.TokenModel`
    :param shown: what :func:`keystone.catalog.answer_text.render` gave
    :param revocation: what revocation events are compared with
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
        {key: fact.fingerprint for key, fact in trace.facts.items()},
        now,
        min(trace.until, expires.timestamp()),
        revocation,
        model,
        head,
        tail,
        catalog and catalog.digest,
        token.project_id,
        (token.user_id, token.user['domain_id']),
    )
    return record, catalog
