# SPDX-License-Identifier: Apache-2.0

"""Lookup, creation and verification of records.

A record is looked up in this process, then in the shared cache. It is only
used if it has not expired, the fingerprints of its facts are unchanged, and no
revocation event revokes the token, if it is the record of a token. Invariant:
a record is read before its facts are compared, and its facts were read before
it was created.
"""

import collections
from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import contextvars
import functools
import logging
import threading
import time
from typing import Any

import cachetools

from keystone.catalog import answer_text
from keystone.common import after_fork
from keystone.common import cache as keystone_cache
from keystone.common.cache import counters
from keystone.common.cache import facts
from keystone.common.cache import regions
from keystone.common.cache import request_values
from keystone.common.cache import shared
from keystone.common.cache import stores
from keystone.common import provider_api
from keystone.common import rendered_token
from keystone.common import token_body
import keystone.conf
from keystone.models import revoke_model
from keystone.models import token_model
from keystone.revoke import core as revoke
from keystone.token.validation_cache import record as records
from keystone.token.validation_cache import sealing

CONF = keystone.conf.CONF
PROVIDERS = provider_api.ProviderAPIs

# Plain logging, without the overhead of an adapter for each request.
LOG = logging.getLogger('keystone')

#: Name in the cache counters.
CACHE = 'validation cache'

# Seconds for which a process waits for another one to create a record, and
# the polling interval.
_WAIT = 0.25
_PAUSE = 0.01
# Seconds after which the lease to create a record expires.
_LEASE = 2
# Seconds for which catalogs are shared, and records at most.
_SHARED = 86400

# Seconds for which a token is remembered as not cacheable.
_UNKEPT = 60

# Names of records and catalogs, which start differently.
_TOKEN = 'token: '
_CATALOG = 'catalog: '
# Reasons not to keep a record that also apply to the next request.
_LASTING = frozenset(('database', 'size'))
# Flaws of a record that a new one would have as well.
_FINAL = frozenset(('revoked', 'unkept'))


class NotKept(Exception):
    """No record is created for a token; the argument is the reason."""


class Wanted:
    """A record that is requested.

    :param token: the token, or None
    :param name: what the record is about, if not a token
    :ivar keys: the keys to seal it with, once it is located
    :ivar place: its key in the process and in the shared cache
    :ivar is_makeable: whether it is of use to create it if it is not found
    """

    __slots__ = ('is_makeable', 'keys', 'name', 'place', 'token')

    keys: sealing.Keys
    place: str

    def __init__(self, token: str | None, name: str = '') -> None:
        self.token = token
        self.name = name if token is None else _TOKEN + token
        self.is_makeable = token is not None

    def locate(self, keys: sealing.Keys) -> None:
        """Set the place under the current keys."""
        self.keys = keys
        self.place = sealing.name(keys, self.name)


class Records:
    """The records of one process. Thread-safe.

    Tokens are not kept in memory: the place of a record does not reveal them.
    """

    def __init__(self) -> None:
        after_fork.call_now_too(self._forget)

    def _forget(self) -> None:
        #: Counters ``hit``, ``shared_hit``, ``made``, and by reason ``miss``
        #: and ``not_kept``, as in ``miss: changed``.
        self.counts: collections.Counter = collections.Counter()
        self._lock = threading.Lock()
        self._making: dict[str, threading.Event] = {}
        self._sealer = sealing.Sealer()
        self._local_caches: Any = None

    @property
    def _records(self) -> Any:
        return self._caches()[0]

    @property
    def _catalogs(self) -> Any:
        return self._caches()[1]

    def _caches(self) -> Any:
        if self._local_caches is None:
            size = CONF.token.validation_cache_size
            self._local_caches = tuple(
                cachetools.LRUCache(size, getsizeof=lambda one: one.size)
                for _ in range(2)
            )
        return self._local_caches

    def clear(self) -> None:
        """Drop all records of this process."""
        with self._lock:
            self._local_caches = None

    def note(self, what: str) -> None:
        """Increment a counter of the process and of the request."""
        self.counts[what] += 1
        counters.count(CACHE, what.replace(': ', '.'))

    @property
    def is_on(self) -> bool:
        return (
            CONF.token.validation_cache_size > 0
            and CONF.token.caching
            and CONF.revoke.max_events_in_memory > 0
            and shared.is_shared()
        )

    # Lookup.

    def find(self, *wanted: Wanted) -> list[Any]:
        """Find valid records.

        :returns: a :class:`.record.Record` or None for each requested one
        """
        flaw, keys = 'keys', self._sealer.read()
        if keys is not None:
            flaw = 'cache'
            for one in wanted:
                one.locate(keys)
            with contextlib.suppress(stores.Unavailable):
                return self._find(wanted)
        self.note(f'miss: {flaw}')
        for one in wanted:
            one.is_makeable = False
        return [None] * len(wanted)

    def _find(self, wanted: tuple[Wanted, ...]) -> list[Any]:
        ids = regions.ids_of(keystone_cache.CACHE_INVALIDATION_REGION)
        ids.settle()
        with self._lock:
            local = [self._records.get(one.place) for one in wanted]
        absent = [one.place for one, mine in zip(wanted, local) if not mine]
        stamp_key = facts.ID + ids.key(revoke.REVOKE_REGION.name)
        needed = absent + _facts_of(local)
        found = self._ask(ids, (stamp_key, *needed) if needed else ())
        records = [
            mine or _opened(one, found[one.place])
            for one, mine in zip(wanted, local)
        ]
        facts_of_all = set(_facts_of(records))
        found.update(self._ask(ids, facts_of_all - found.keys()))
        # Records share many facts.
        prints = {
            key: _fingerprint(ids, key, found[key]) for key in facts_of_all
        }
        stamp = None
        if ids.fingerprint(_place(stamp_key), found.get(stamp_key)):
            stamp = ids.parse(found[stamp_key])
        return [
            self._judge(one, record, mine, prints, stamp)
            for one, record, mine in zip(wanted, records, local)
        ]

    def _ask(self, ids: regions.Ids, keys: Any) -> dict[str, Any]:
        keys = list(dict.fromkeys(keys))
        if not keys:
            return {}
        counters.count(CACHE, counters.ROUND_TRIPS)
        places = [_place(key) for key in keys]
        found = ids.store.get_many(places)
        request_values.offer(dict(zip(places, found)))
        return dict(zip(keys, found))

    def _judge(
        self,
        wanted: Wanted,
        record: Any,
        mine: Any,
        prints: dict[str, bytes],
        stamp: Any,
    ) -> Any:
        """The record if it is valid, or None.

        :param mine: the same if it is a local one, or None
        """
        flaw = 'unknown'
        if record is not None:
            flaw = self._flaw(record, prints, stamp)
        if flaw is None and not self._has_catalog(wanted, record):
            flaw = 'catalog'
        if flaw is not None:
            self.note(f'miss: {flaw}')
            if flaw in _FINAL:
                wanted.is_makeable = False
            return None
        if mine is None:
            self._put(self._records, wanted.place, record)
        self.note('shared_hit' if mine is None else 'hit')
        return record

    def _flaw(
        self, record: records.Record, prints: dict[str, bytes], stamp: Any
    ) -> str | None:
        """Why a record is invalid, in one word, or None.

        :param prints: the current fingerprints of facts
        :param stamp: the id of the revocation events, or None
        """
        now = time.time()
        if now >= record.until:
            return 'expired'
        if now < record.made:
            # The clock went back.
            return 'clock'
        if not record.head:
            return 'unkept'
        # The fingerprint of a missing fact is shorter.
        if b''.join([prints[key] for key in record.keys]) != record.prints:
            return 'changed'
        if record.revocation is None:
            return None
        replica = PROVIDERS.revoke_api.token_check.replica(
            PROVIDERS.revoke_api.driver
        )
        if replica is None or stamp is None:
            return 'events'
        return _revoked(replica, record, stamp)

    def _get(self, kept: Any, key: str) -> Any:
        with self._lock:
            return kept.get(key)

    def _put(self, kept: Any, key: str, value: Any) -> bool:
        """Keep a value in this process; False if it exceeds the size."""
        with self._lock, contextlib.suppress(ValueError):
            kept[key] = value
            return True
        return False

    def keep_caller(
        self, wanted: Wanted, record: records.Record, caller: Any
    ) -> None:
        """Add the credentials of a caller to a record.

        :param caller: a :class:`.decisions.Decisions`
        """
        record.caller = caller
        if self._get(self._records, wanted.place) is record:
            # Its size has changed.
            self._put(self._records, wanted.place, record)

    def remember_unkept(self, wanted: Wanted) -> None:
        """Remember for a while that a token is not cacheable."""
        now = time.time()
        unkept = records.Record((), b'', now, now + _UNKEPT, head=b'')
        self._put(self._records, wanted.place, unkept)

    # Creation.

    def make(self, wanted: Wanted) -> Any:
        """Create the record of a valid token, and keep it if possible.

        Concurrent requests for the same record create it once.

        :param wanted: a record that was looked up
        :returns: a :class:`.record.Record`
        :raises NotKept: the token is not cacheable
        :raises keystone.exception.Error: the token is not valid
        """
        place, mine = wanted.place, threading.Event()
        other = self._making.setdefault(place, mine)
        if other is not mine:
            self.note('waited')
            other.wait(_LEASE)
            return self.find(wanted)[0] or self._make(wanted)
        try:
            with self._leased(f'{place}.lease') as is_leased:
                record = None if is_leased else self.find(wanted)[0]
                return record or self._make(wanted)
        finally:
            del self._making[place]
            mine.set()

    @contextlib.contextmanager
    def _leased(self, lease: str) -> Iterator[bool]:
        """Take a lease to create a record.

        Yields False if another process held it, after waiting for it.
        """
        ids = regions.ids_of(keystone_cache.CACHE_INVALIDATION_REGION)
        if not ids.store.makes_leases:
            yield True
            return
        try:
            is_first = ids.store.add(lease, b'1', _LEASE)
        except stores.Unavailable:
            yield True
            return
        if not is_first:
            self.note('waited')
            self._wait(ids.store, lease)
            yield False
            return
        try:
            yield True
        finally:
            with contextlib.suppress(stores.Unavailable):
                ids.store.delete(lease)

    def _wait(self, store: stores.Store, lease: str) -> None:
        """Wait until a lease is released, for a limited time."""
        until = time.monotonic() + _WAIT
        with contextlib.suppress(stores.Unavailable):
            while time.monotonic() < until:
                time.sleep(_PAUSE)
                if store.get_many([lease]) == [None]:
                    return

    def _make(self, wanted: Wanted) -> records.Record:
        now = time.time()
        with facts.tracing() as trace:
            token = PROVIDERS.token_provider_api._validate_token(wanted.token)
            made = _record_of(trace, token, None, now)
            return self._keep(wanted, trace, *made)

    def issuing(self) -> contextlib.AbstractContextManager[Callable]:
        """Trace the issue of a token, to create its record.

        Yields a function that takes the token model and the result of
        :func:`keystone.catalog.answer_text.render` with the catalog, as in a
        validation. It raises no errors.
        """
        return self.recording(
            lambda token: Wanted(token.id),
            _record_of,
            is_wanted=CONF.token.cache_on_issue,
            is_of_issue=True,
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
        :func:`keystone.catalog.answer_text.render` with the catalog. It raises
        no errors.

        :param wanted: function from the model to a :class:`Wanted`
        :param make: function like :func:`.record.make`, without values to
            compare with revocation events
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
                self._keep(one, trace, *make(trace, token, shown, now))
            except NotKept as reason:
                self.note(f'not_kept: {reason}')
            except Exception as error:
                # The error message may contain the token.
                LOG.debug('Failed to record token: %s', type(error).__name__)

        with (
            request_values.reading_ahead(),
            facts.tracing(is_of_issue) as trace,
        ):
            yield keep

    def _keep(
        self,
        wanted: Wanted,
        trace: facts.Trace,
        record: records.Record,
        catalog: records.Catalog | None,
    ) -> records.Record:
        """Keep a record if possible.

        :param wanted: located before anything was read
        :param trace: the trace in which the record was created
        """
        self.note('made')
        is_new = catalog and catalog.digest not in self._catalogs
        reason = trace.flaw or (None if trace.is_complete else 'unsettled')
        if catalog and not self._put(self._catalogs, catalog.digest, catalog):
            reason = 'size'
        if reason:
            self.note(f'not_kept: {reason}')
            if reason in _LASTING:
                self.remember_unkept(wanted)
            record.own_catalog = catalog
            return record
        self._put(self._records, wanted.place, record)
        counters.measure(CACHE, 'entries', len(self._records))
        counters.measure(CACHE, 'bytes', self.size)
        with contextlib.suppress(stores.Unavailable):
            # A catalog already known to this process is shared already.
            _share(wanted, record, catalog if is_new else None)
        return record

    # Catalogs.

    def _has_catalog(self, wanted: Wanted, record: records.Record) -> bool:
        """Whether this process has the catalog of a record, or can get it."""
        digest = record.catalog
        if digest is None or self._get(self._catalogs, digest):
            return True
        ids = regions.ids_of(keystone_cache.CACHE_INVALIDATION_REGION)
        name = sealing.name(wanted.keys, _CATALOG + digest)
        (sealed,) = ids.store.get_many([name])
        text = sealing.unseal(wanted.keys, name, sealed)
        return text is not None and self._put(
            self._catalogs, digest, records.Catalog(text)
        )

    def body(self, record: records.Record, with_catalog: bool) -> Any:
        """The body of a response in bytes; None if its catalog is missing."""
        if not with_catalog or record.catalog is None:
            return record.body(None)
        catalog = record.own_catalog or self._get(
            self._catalogs, record.catalog
        )
        return catalog and record.body(catalog)

    @property
    def size(self) -> int:
        """Approximate size in bytes."""
        return int(self._records.currsize + self._catalogs.currsize)


def _facts_of(found: list[Any]) -> list[str]:
    return [key for record in found if record for key in record.keys]


def _place(key: str) -> str:
    """The cache key of a fact."""
    return key[1:] if key.startswith(facts.ID) else key


def _fingerprint(ids: regions.Ids, key: str, stored: Any) -> bytes:
    if stored is None:
        return facts.MISSING
    if key.startswith(facts.ID):
        return ids.fingerprint(key[1:], stored) or facts.MISSING
    return facts.fingerprint(stored)


def _opened(wanted: Wanted, sealed: bytes | None) -> Any:
    """A shared record, or None if it cannot be read."""
    packed = sealing.unseal(wanted.keys, wanted.place, sealed)
    return packed and records.Record.unpacked(packed)


def _share(wanted: Wanted, record: records.Record, catalog: Any) -> None:
    """Share a record with other processes."""
    seconds = int(min(record.until - time.time(), _SHARED))
    store = regions.ids_of(keystone_cache.CACHE_INVALIDATION_REGION).store
    if seconds < 1 or not store.makes_leases:
        return
    if catalog:
        name = sealing.name(wanted.keys, _CATALOG + catalog.digest)
        if store.get_many([name]) == [None]:
            sealed = sealing.seal(wanted.keys, name, catalog.text)
            store.set(name, sealed, _SHARED)
    sealed = sealing.seal(wanted.keys, wanted.place, record.packed())
    store.set(wanted.place, sealed, seconds)


def _revoked(replica: Any, record: records.Record, stamp: Any) -> str | None:
    """Whether a token is revoked, as a reason in one word, or None."""
    view = replica.view_in_step(stamp.payload)
    if view is None:
        is_revoked = replica.is_revoked_under(stamp.payload, record.revocation)
        return 'revoked' if is_revoked else None
    if record.cleared == view.number:
        return None
    if view.copy.tree.is_revoked(record.revocation):
        return 'revoked'
    record.cleared = view.number
    return None


def _record_of(
    trace: facts.Trace, token: Any, shown: dict[str, Any] | None, now: float
) -> tuple[records.Record, records.Catalog | None]:
    """Create the record of a token in its trace.

    :param shown: the token as rendered in the trace; None to render it
    :param now: seconds since the epoch, before anything was read
    """
    _demand_plain(token)
    PROVIDERS.token_provider_api._is_valid_token(token)
    if shown is None:
        shown = answer_text.render(token)
    values = revoke_model.build_token_values(token)
    revocation = {name: value for name, value in values.items() if value}
    return records.make(trace, token, shown, revocation, now)


def _demand_plain(token: Any) -> None:
    """Reject tokens that a record does not fully represent."""
    if type(token) is not token_model.TokenModel:
        raise NotKept('unknown')
    if not token.user.get('enabled', True):
        # Normal processing revokes it, and its response depends on that.
        raise NotKept('disabled')
    if getattr(token, 'oauth2_thumbprint', None):
        raise NotKept('certificate')
    if token.application_credential_id and (
        token.application_credential.get('access_rules') is not None
    ):
        raise NotKept('access_rules')


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
        with request_values.reading_ahead():
            yield
    finally:
        _verified.reset(reset)


def found(*wanted: Wanted) -> list[Any]:
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


def made(wanted: Wanted) -> Any:
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
        record = _found(token, make=True)
        if record is None:
            return fetch(self, token, **kwargs)
        return rendered(record, token)

    return wrapper


def known(token: str) -> Any:
    """The model of a token with a valid record, or None."""
    record = _found(token, make=False)
    return record and record.token(token)


def _found(token: str, make: bool) -> Any:
    """The valid record of a token, or None."""
    verified = _verified.get({})
    if token in verified:
        return verified[token]
    record = None
    try:
        if RECORDS.is_on:
            wanted = Wanted(token)
            (record,) = found(wanted)
            if record is None and make:
                record = made(wanted)
    except Exception as error:
        # The error message may contain the token.
        LOG.warning('Failed to use validation cache: %s', type(error).__name__)
    return record


def rendered(record: records.Record, token: str) -> Any:
    """The caller's token as returned by the authentication middleware."""
    return rendered_token.RenderedToken(
        record.token(token),
        lambda model: {'token': token_body.TokenBody(model, record.shown())},
    )
