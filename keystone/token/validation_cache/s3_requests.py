# SPDX-License-Identifier: Apache-2.0

"""Records of S3 credentials.

The response to ``POST /v3/s3tokens`` is the content of a new token, without
its id. Except for the audit id and the times, it only depends on facts. One of
them is the credential, whose secret is not part of the record: the signature
of each request is verified with the current one.
"""

from collections.abc import Callable
import contextlib
import io
import json
import re
import secrets
from typing import Any

from oslo_serialization import jsonutils
from oslo_utils import timeutils

from keystone.common.cache import request_local
from keystone.common import provider_api
from keystone.common import utils
import keystone.conf
from keystone import exception
from keystone.token import provider
from keystone.token.validation_cache import cache
from keystone.token.validation_cache import inquiry
from keystone.token.validation_cache import lookup
from keystone.token.validation_cache import record as records

CONF = keystone.conf.CONF
PROVIDERS = provider_api.ProviderAPIs

# Maximum length of a request in bytes; S3 signatures need less than 1,000.
_LONGEST = 16384
_MEMBERS = frozenset(('access', 'signature', 'token'))
# Mark the values that differ between responses. These bytes do not occur in
# JSON.
_GAPS = {'audit_ids': b'\1', 'expires_at': b'\2', 'issued_at': b'\3'}


class SignedRequest(inquiry.Inquiry):
    """The verification of the signature of an S3 request."""

    methods = ('POST',)
    has_body = True

    def __init__(self, environ: dict) -> None:
        super().__init__(environ)
        self._credentials = _credentials(environ)
        self.subject = _wanted(self._credentials['access'])

    def decision(self, record: records.Record) -> tuple[str, tuple]:
        return 'identity:s3tokens_validate', tuple(
            (f'request_body.credentials.{name}', value)
            for name, value in self._credentials.items()
        )

    def body(self, record: records.Record) -> bytes | None:
        # It uses this module.
        from keystone.api import s3tokens

        credential = compared(self.environ, self._credentials['access'])
        try:
            s3tokens.S3Resource._check_signature(
                loaded(credential), self._credentials
            )
        except (exception.Error, ValueError):
            # Normal processing rejects it.
            return None
        return _filled(self.with_catalog(record))


def _credentials(environ: dict) -> dict[str, str]:
    """The credentials in the body of a request, which stays readable."""
    length = environ.get('CONTENT_LENGTH', '')
    # Normal processing rejects what raises an error.
    with contextlib.suppress(Exception):
        longest = min(_LONGEST, CONF.oslo_middleware.max_request_body_size)
        if (
            environ.get('CONTENT_TYPE') == 'application/json'
            and length.isdecimal()
            and int(length) <= longest
        ):
            body = environ['wsgi.input'].read(int(length))
            environ['wsgi.input'] = io.BytesIO(body)
            members = json.loads(body)
            found = members['credentials']
            if len(members) == 1 and found.keys() == _MEMBERS:
                # Those that are not text raise an error.
                for one in found.values():
                    one.encode()
                return found
    raise inquiry.Bypass('body')


def compared(environ: dict, access: str) -> dict[str, Any]:
    """The credential of an access key, whose fingerprint was compared."""
    # What an earlier request on this thread has read is no longer current.
    request_local.begin(environ)
    key = utils.hash_access_key(access)
    return PROVIDERS.credential_api.get_credential(key)


def loaded(credential: dict[str, Any]) -> dict[str, Any]:
    """The access key and the secret of a credential."""
    try:
        return jsonutils.loads(credential['blob'])
    except TypeError:
        return credential['blob']


def _wanted(access: str) -> lookup.Wanted:
    return lookup.Wanted(None, f's3: {access}')


def _filled(body: bytes) -> bytes:
    """The body of a response with the values of a new token."""
    # In whole seconds, as in the ids of Fernet tokens.
    now = timeutils.utcnow().replace(microsecond=0)
    values = {
        'audit_ids': provider.random_urlsafe_str(),
        'expires_at': utils.isotime(
            provider.default_expire_time(), subsecond=True
        ),
        'issued_at': utils.isotime(now, subsecond=True),
    }
    for name, value in values.items():
        body = body.replace(_GAPS[name], value.encode())
    return body


def _make(
    trace: Any, token: Any, shown: dict[str, Any], now: float
) -> records.Record:
    if (
        token.trust_id
        or token.application_credential_id
        or token.access_token_id
    ):
        # They limit the token further.
        raise cache.NotKept('delegated')
    marks = {name: secrets.token_hex(16) for name in _GAPS}
    marked = {**shown['token'], **marks, 'audit_ids': [marks['audit_ids']]}
    record = records.make(trace, token, {**shown, 'token': marked}, None, now)
    for name, mark in marks.items():
        record.head = record.head.replace(mark.encode(), _GAPS[name])
        record.tail = record.tail.replace(mark.encode(), _GAPS[name])
    return record


def recording(
    credentials: dict[str, Any],
) -> contextlib.AbstractContextManager[Callable]:
    """Trace the verification of a signature, to create a record.

    :param credentials: the body of the request
    :returns: see :meth:`.cache.Records.recording`
    """
    try:
        access = credentials['credentials']['access']
    except (LookupError, TypeError):
        access = None
    return cache.RECORDS.recording(
        lambda token: _wanted(access), _make, isinstance(access, str)
    )


inquiry.KINDS[re.compile('/v3/s3tokens')] = SignedRequest
