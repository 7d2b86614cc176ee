# SPDX-License-Identifier: Apache-2.0

"""Records of the responses that contain the secret of an access key.

The response to ``GET /v3/users/{user}/credentials/OS-EC2/{key}`` only depends
on facts. One of them is the credential; its secret is not part of the record,
and is filled in from the value whose fingerprint was compared.
"""

from collections.abc import Callable
import functools
import re
import secrets
from typing import Any

import flask
from oslo_serialization import jsonutils

from keystone.common import utils
import keystone.conf
from keystone.token.validation_cache import cache
from keystone.token.validation_cache import inquiry
from keystone.token.validation_cache import lookup
from keystone.token.validation_cache import record as records
from keystone.token.validation_cache import s3_requests

CONF = keystone.conf.CONF

_PATH = re.compile(r'/v3/users/[A-Za-z0-9_-]+/credentials/OS-EC2/[A-Za-z0-9]+')
# Marks the secret. This byte does not occur in JSON.
_GAP = b'\1'


class AccessKeyRequest(inquiry.Inquiry):
    """The request for an access key with its secret."""

    def __init__(self, environ: dict) -> None:
        super().__init__(environ)
        path = environ['PATH_INFO']
        _, _, _, user_id, _, _, self._access = path.split('/')
        self._arguments = {'user_id': user_id, 'credential_id': self._access}
        # The response has a link to itself.
        link = (
            path,
            CONF.public_endpoint,
            CONF.oslo_middleware.enable_proxy_headers_parsing,
            *self.surroundings[1:],
        )
        self.subject = lookup.Wanted(None, f'access key: {link}')

    @functools.cached_property
    def _credential(self) -> dict[str, Any]:
        return s3_requests.compared(self.environ, self._access)

    def accepts(self, credentials: Any) -> bool:
        # The package imports this module.
        from keystone.api._shared import delegation

        token = credentials.token_reference.model
        return not (
            credentials.trust_id or delegation.is_delegated_method(token)
        )

    def decision(self, record: records.Record) -> tuple[str, tuple]:
        target = {
            **self._arguments,
            'target': {'credential': self._credential},
        }
        return 'identity:ec2_get_credential', tuple(
            utils.flatten_dict(target).items()
        )

    def body(self, record: records.Record) -> bytes | None:
        secret = s3_requests.loaded(self._credential).get('secret')
        return record.head.replace(_GAP, jsonutils.dump_as_bytes(secret))


def _make(
    trace: Any, credential: dict[str, Any], shown: dict[str, Any], now: float
) -> records.Record:
    mark = secrets.token_hex(16)
    marked = {**shown, 'credential': {**credential, 'secret': mark}}
    text = jsonutils.dumps(marked) + '\n'
    head = text.replace(f'"{mark}"', _GAP.decode()).encode()
    return records.Record(
        trace.facts, trace.fingerprints, now, trace.until, head
    )


def recorded(method: Callable) -> Callable:
    """Decorate the method of a resource, to create records of responses."""

    @functools.wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        asked = flask.request.environ.get(inquiry.KEY)
        with cache.RECORDS.recording(
            lambda _: asked.subject, _make, is_wanted=asked is not None
        ) as keep:
            shown = method(*args, **kwargs)
            keep(shown['credential'], shown)
            return shown

    return wrapper


inquiry.KINDS[_PATH] = AccessKeyRequest
