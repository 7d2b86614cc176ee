# SPDX-License-Identifier: Apache-2.0

"""Creation of records, and their use for the tokens of a request."""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import contextvars
import functools
import logging
import threading
import time
from typing import Any

from keystone.catalog import answer_text
from keystone.common.cache import facts
from keystone.common.cache import stores
from keystone.common import counters
from keystone.common import provider_api
from keystone.common import rendered_token
from keystone.common import token_body
from keystone.models import revoke_model
from keystone.token.validation_cache import creation_lease
from keystone.token.validation_cache import current
from keystone.token.validation_cache import lookup
from keystone.token.validation_cache import record as records

PROVIDERS = provider_api.ProviderAPIs

# Plain logging, without the overhead of an adapter for each request.
LOG = logging.getLogger('keystone')

# Reasons not to keep a record that also apply to the next request.
_LASTING = frozenset(('database', 'size'))


class NotKept(Exception):
    """No record is created for a token; the argument is the reason."""


class Records(lookup.Lookup):
    """The records of one process, which it also creates. Thread-safe."""

    def _forget(self) -> None:
        super()._forget()
        # The records that threads are creating, by place.
        self._making: dict[str, threading.Event] = {}

    def make(self, wanted: lookup.Wanted) -> Any:
        """Create the record of a valid token, and keep it if possible.

        Concurrent requests for the same record create it once.

        :param wanted: a record that was looked up
        :returns: a :class:`.record.Record`
        :raises NotKept: the token is not cacheable
        :raises keystone.exception.Error: the token is not valid
        """
        # Anybody can send what is no token: it neither takes a lease nor has
        # others wait for it.
        PROVIDERS.token_provider_api.driver.validate_token(wanted.token)
        place, mine = wanted.place, threading.Event()
        other = self._making.setdefault(place, mine)
        if other is not mine:
            self.note('waited')
            other.wait(creation_lease.SECONDS)
            return self.find(wanted)[0] or self._make(wanted)
        try:
            with creation_lease.taken(place) as is_taken:
                record = None
                if not is_taken:
                    self.note('waited')
                    (record,) = self.find(wanted)
                return record or self._make(wanted)
        finally:
            del self._making[place]
            mine.set()

    def _make(self, wanted: lookup.Wanted) -> records.Record:
        now = time.time()
        with facts.tracing() as trace:
            token = PROVIDERS.token_provider_api._validate_token(wanted.token)
            return self._keep(
                wanted, trace, record_of(trace, token, None, now)
            )

    @contextlib.contextmanager
    def recording(
        self,
        wanted: Callable,
        make: Callable,
        is_wanted: bool,
        is_of_issue: bool = False,
    ) -> Iterator[Callable[[Any, Any], None]]:
        """Trace normal processing, to create a record.

        Yields a function that takes a token model and the result of
        :func:`keystone.catalog.answer_text.render_response` with the catalog.
        It raises no errors.

        :param wanted: function from the model to a :class:`lookup.Wanted`
        :param make: function like :func:`record_of`
        :param is_wanted: False to do nothing
        :param is_of_issue: see :class:`keystone.common.cache.facts.Trace`
        """
        # Before anything is read, with keys that may be outdated then.
        keys = self._sealer.read() if is_wanted and self.is_on else None
        if keys is None:
            yield lambda token, shown: None
            return
        now = time.time()

        def keep(token: Any, shown: Any) -> None:
            try:
                one = wanted(token)
                one.locate(keys)
                self._keep(one, trace, make(trace, token, shown, now))
            except NotKept as reason:
                self.note(f'not_kept: {reason}')
            except Exception as error:
                # The error message may contain the token.
                LOG.debug('Failed to record token: %s', type(error).__name__)

        with facts.reading_ahead(), facts.tracing(is_of_issue) as trace:
            yield keep

    def _keep(
        self, wanted: lookup.Wanted, trace: facts.Trace, record: records.Record
    ) -> records.Record:
        """Keep a record if possible.

        :param wanted: located before anything was read
        :param trace: the trace in which the record was created
        """
        self.note('made')
        reason = trace.flaw or (None if trace.is_complete else 'unsettled')
        if reason is None and not self._put(wanted, record):
            reason = 'size'
        if reason:
            self.note(f'not_kept: {reason}')
            if reason in _LASTING:
                self.remember_unkept(wanted)
            return record
        counters.measure(current.CACHE, 'entries', len(self._records))
        counters.measure(current.CACHE, 'bytes', self.size)
        with contextlib.suppress(stores.Unavailable):
            lookup.share(wanted, record)
        return record


def record_of(
    trace: facts.Trace, token: Any, shown: dict[str, Any] | None, now: float
) -> records.Record:
    """Create the record of a token in its trace.

    :param shown: the token as rendered in the trace; None to render it
    :param now: seconds since the epoch, before anything was read
    :raises NotKept: a record would not fully represent the token
    """
    if not token.user.get('enabled', True):
        # Normal processing revokes it, and its response depends on that.
        raise NotKept('disabled')
    if token.oauth2_thumbprint:
        raise NotKept('certificate')
    if token.application_credential_id and (
        token.application_credential.get('access_rules') is not None
    ):
        raise NotKept('access_rules')
    PROVIDERS.token_provider_api._is_valid_token(token)
    if shown is None:
        shown = answer_text.render_response(token)
    values = revoke_model.build_token_values(token)
    revocation = {name: value for name, value in values.items() if value}
    return records.make(trace, token, shown, revocation, now)


#: The records of this process.
RECORDS = Records()

# Records verified at the start of the current request, by token; None for a
# token that has none.
_verified: contextvars.ContextVar[dict] = contextvars.ContextVar(
    'verified records'
)


@contextlib.contextmanager
def verified_records() -> Iterator[None]:
    """Make verified records available to the request."""
    reset = _verified.set({})
    try:
        with facts.reading_ahead():
            yield
    finally:
        _verified.reset(reset)


def found(*wanted: lookup.Wanted) -> list[Any]:
    """Find valid records, and make them available to the request."""
    verified = _verified.get({})
    try:
        records = RECORDS.find(*wanted)
    except Exception:
        # The request does not try it again, which may take until a timeout.
        verified.update((one.token, None) for one in wanted)
        raise
    for one, record in zip(wanted, records):
        if record is not None:
            verified[one.token] = record
    return records


def made(wanted: lookup.Wanted) -> Any:
    """Create the record of a token; None if this is not possible."""
    verified = _verified.get({})
    if wanted.token in verified:
        return verified[wanted.token]
    record = None
    try:
        if wanted.is_makeable:
            record = RECORDS.make(wanted)
    except NotKept as reason:
        RECORDS.note(f'not_kept: {reason}')
        RECORDS.remember_unkept(wanted)
    except Exception as error:
        # Normal processing reports it. The message may contain the token.
        LOG.debug('Failed to record token: %s', type(error).__name__)
    verified[wanted.token] = record
    return record


def remembered(fetch: Any) -> Any:
    """Decorate the method of a middleware that validates a caller's token.

    :param fetch: method that takes a token, and returns a
        :class:`~keystone.common.rendered_token.RenderedToken`
    """

    @functools.wraps(fetch)
    def wrapper(self: Any, token: str, **kwargs: Any) -> Any:
        # A record that is missing is not looked up again to validate it.
        reset = _verified.set(_verified.get({}))
        try:
            record = _record_for(token, make=True)
            if record is None:
                return fetch(self, token, **kwargs)
            return rendered(record, token)
        finally:
            _verified.reset(reset)

    return wrapper


def known(token: str) -> Any:
    """The model of a token with a valid record, or None."""
    record = _record_for(token, make=False)
    return record and record.token(token)


def _record_for(token: str, make: bool) -> Any:
    """The valid record of a token, or None."""
    verified = _verified.get({})
    if token in verified or not RECORDS.is_on:
        return verified.get(token)
    wanted, record, failure = lookup.Wanted(token), None, ''
    try:
        (record,) = found(wanted)
        if record is None and make:
            record = made(wanted)
    except Exception as error:
        failure = type(error).__name__
    if failure:
        # Not above, where oslo.log appends the message, which may contain it.
        LOG.warning('Failed to use validation cache: %s', failure)
    return record


def rendered(record: records.Record, token: str) -> Any:
    """The caller's token as returned by the authentication middleware."""
    return rendered_token.RenderedToken(
        record.token(token),
        lambda model: {'token': token_body.TokenBody(model, record.shown())},
    )
