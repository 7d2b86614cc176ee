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
import hashlib
import logging
import secrets
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
from keystone.common import local_store
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

# Maximum number of tokens remembered as not cacheable, and for how many
# seconds.
_MOST_UNKEPT = 10000
_UNKEPT = 60

# Names of records and catalogs, which start differently.
_TOKEN = 'token: '
_CATALOG = 'catalog: '
# Reasons not to keep a record that also apply to the next request.
_LASTING = frozenset(('database', 'size'))


class NotKept(Exception):
    """No record is created for a token; the argument is the reason."""


class Wanted:
    """A record that is requested.

    :param token: the token, or None
    :param name: what the record is about, if not a token
    :ivar digest: local name of the record, once it was computed
    :ivar is_revoked: whether the record found is that of a revoked token
    :ivar is_unkept: whether it is known not to be cacheable
    """

    __slots__ = ('digest', 'is_revoked', 'is_unkept', 'name', 'token')

    def __init__(self, token: str | None, name: str = '') -> None:
        self.token = token
        self.name = name if token is None else _TOKEN + token
        self.digest: bytes | None = None
        self.is_revoked = self.is_unkept = False


class Records:
    """The records of one process. Thread-safe.

    Tokens are not kept in memory: local records are keyed by a digest of the
    token, shared ones by a name that does not reveal it.
    """

    def __init__(self) -> None:
        after_fork.call_now_too(self._forget)

    def _forget(self) -> None:
        #: Counters ``hit``, ``shared_hit``, ``made``, and by reason ``miss``
        #: and ``not_kept``, as in ``miss: changed``.
        self.counts: collections.Counter = collections.Counter()
        self._lock = threading.Lock()
        self._making: dict[str, threading.Event] = {}
        self._unkept = local_store.LocalStore(_MOST_UNKEPT, lambda: _UNKEPT)
        self._sealer = sealing.Sealer()
        self._secret = secrets.token_bytes(32)
        self._local_caches: Any = None
        self._keys: Any = None

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
        self._unkept.clear()

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
        for one in wanted:
            one.is_unkept = self._unkept.get(self._key(one), False)
        known = [one for one in wanted if not one.is_unkept]
        try:
            found = iter(self._find(known) if known else ())
        except stores.Unavailable:
            self.note('miss: cache')
            found = iter([None] * len(known))
        return [None if one.is_unkept else next(found) for one in wanted]

    def _find(self, wanted: list[Wanted]) -> list[Any]:
        keys = self._current_keys()
        if keys is None:
            self.note('miss: keys')
            return [None] * len(wanted)
        ids = regions.ids_of(keystone_cache.CACHE_INVALIDATION_REGION)
        ids.settle()
        with self._lock:
            local = [self._records.get(self._key(one)) for one in wanted]
        names = [
            sealing.name(keys, one.name) if record is None else None
            for one, record in zip(wanted, local)
        ]
        stamp_key = facts.ID + ids.key(revoke.REVOKE_REGION.name)
        found = self._ask(
            ids, (stamp_key, *filter(None, names), *_facts_of(local))
        )
        records = [
            record or _opened(keys, name, found[name])
            for record, name in zip(local, names)
        ]
        needed = set(_facts_of(records))
        found.update(self._ask(ids, needed - found.keys()))
        # Records share many facts.
        prints = {key: _fingerprint(ids, key, found[key]) for key in needed}
        stamp = None
        if ids.fingerprint(_place(stamp_key), found[stamp_key]):
            stamp = ids.parse(found[stamp_key])
        return [
            self._judge(one, record, name and keys, ids, prints, stamp)
            for one, record, name in zip(wanted, records, names)
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
        shared_by: Any,
        ids: regions.Ids,
        prints: dict[str, bytes],
        stamp: Any,
    ) -> Any:
        """The record if it is valid, or None.

        :param shared_by: the keys that sealed it; None if it is a local one
        """
        flaw = 'unknown'
        if record is not None:
            flaw = self._flaw(record, prints, stamp)
        if flaw is None and record.catalog:
            if not self._catalog(record.catalog, ids):
                flaw = 'catalog'
        if flaw is not None:
            self.note(f'miss: {flaw}')
            wanted.is_revoked = flaw == 'revoked'
            return None
        if shared_by:
            self._keep_here(shared_by, wanted, record)
        self.note('shared_hit' if shared_by else 'hit')
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

    def _key(self, wanted: Wanted) -> bytes:
        if wanted.digest is None:
            wanted.digest = hashlib.blake2b(
                wanted.name.encode(), key=self._secret, digest_size=20
            ).digest()
        return wanted.digest

    def _keep_here(
        self, keys: sealing.Keys, wanted: Wanted, record: records.Record
    ) -> None:
        with self._lock, contextlib.suppress(ValueError):
            # They may have changed since, and all records been dropped.
            if keys is self._keys:
                # It may exceed the size of the cache.
                self._records[self._key(wanted)] = record

    def keep_caller(
        self, wanted: Wanted, record: records.Record, caller: Any
    ) -> None:
        """Add the credentials of a caller to a record.

        :param caller: a :class:`.decisions.Decisions`
        """
        record.caller = caller
        with self._lock, contextlib.suppress(ValueError):
            key = self._key(wanted)
            if self._records.get(key) is record:
                # Its size has changed.
                self._records[key] = record

    def _keep_catalog(self, catalog: records.Catalog) -> bool:
        """Keep a catalog; False if it exceeds the size of the cache."""
        with self._lock, contextlib.suppress(ValueError):
            self._catalogs[catalog.digest] = catalog
            return True
        return False

    def remember_unkept(self, wanted: Wanted) -> None:
        """Remember for a while that a token is not cacheable."""
        self._unkept.put(self._key(wanted), True)

    def _current_keys(self) -> sealing.Keys | None:
        """The current keys; drops all records if they have changed."""
        keys = self._sealer.read()
        if keys is not self._keys:
            with self._lock:
                self._records.clear()
                self._keys = keys
        return keys

    # Creation.

    def make(self, wanted: Wanted) -> Any:
        """Create the record of a valid token, and keep it if possible.

        Concurrent requests for the same record create it once.

        :returns: a :class:`.record.Record`
        :raises NotKept: the token is not cacheable
        :raises keystone.exception.Error: the token is not valid
        """
        with self._lock:
            made = self._making.get(wanted.token)
            if made is None:
                self._making[wanted.token] = threading.Event()
        if made is not None:
            self.note('waited')
            made.wait(_LEASE)
            return self.find(wanted)[0] or self._make(wanted)
        try:
            with self._leased(wanted) as is_leased:
                record = None if is_leased else self.find(wanted)[0]
                return record or self._make(wanted)
        finally:
            with self._lock:
                self._making.pop(wanted.token).set()

    @contextlib.contextmanager
    def _leased(self, wanted: Wanted) -> Iterator[bool]:
        """Take a lease to create a record.

        Yields False if another process held it, after waiting for it.
        """
        keys = self._current_keys()
        ids = regions.ids_of(keystone_cache.CACHE_INVALIDATION_REGION)
        if keys is None or not ids.store.makes_leases:
            yield True
            return
        name = sealing.name(keys, wanted.name)
        lease = f'{name}.lease'
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
        now, keys = time.time(), self._current_keys()
        with facts.tracing() as trace:
            token = PROVIDERS.token_provider_api._validate_token(wanted.token)
            made = _record_of(trace, token, None, now)
            return self._keep(wanted, keys, trace, *made)

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
        if not (is_wanted and self.is_on):
            yield lambda token, shown: None
            return
        now, keys = time.time(), self._current_keys()

        def keep(token: Any, shown: Any) -> None:
            try:
                made = make(trace, token, shown, now)
                self._keep(wanted(token), keys, trace, *made)
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
        keys: sealing.Keys | None,
        trace: facts.Trace,
        record: records.Record,
        catalog: records.Catalog | None,
    ) -> records.Record:
        """Keep a record if possible.

        :param keys: the keys before anything was read
        :param trace: the trace in which the record was created
        """
        self.note('made')
        is_new = catalog and catalog.digest not in self._catalogs
        reason = trace.flaw or (None if trace.is_complete else 'unsettled')
        if keys is None or keys is not self._current_keys():
            reason = 'keys'
        elif catalog and not self._keep_catalog(catalog):
            reason = 'size'
        if reason:
            self.note(f'not_kept: {reason}')
            if reason in _LASTING:
                self.remember_unkept(wanted)
            record.own_catalog = catalog
            return record
        self._keep_here(keys, wanted, record)
        counters.measure(CACHE, 'entries', len(self._records))
        counters.measure(CACHE, 'bytes', self.size)
        # A catalog already known to this process is shared already.
        self._share(keys, wanted, record, catalog if is_new else None)
        return record

    def _share(
        self, keys: sealing.Keys, wanted: Wanted, record: Any, catalog: Any
    ) -> None:
        """Share a record with other processes."""
        seconds = int(min(record.until - time.time(), 86400))
        ids = regions.ids_of(keystone_cache.CACHE_INVALIDATION_REGION)
        if seconds < 1 or not ids.store.makes_leases:
            return
        name = sealing.name(keys, wanted.name)
        try:
            if catalog:
                self._share_catalog(keys, catalog, ids)
            ids.store.set(
                name, sealing.seal(keys, name, record.packed()), seconds
            )
        except stores.Unavailable:
            pass

    # Catalogs.

    def _share_catalog(self, keys: Any, catalog: Any, ids: Any) -> None:
        name = sealing.name(keys, _CATALOG + catalog.digest)
        if ids.store.get_many([name]) == [None]:
            sealed = sealing.seal(keys, name, catalog.text)
            ids.store.set(name, sealed, 86400)

    def _catalog(self, digest: str, ids: regions.Ids) -> Any:
        with self._lock:
            catalog = self._catalogs.get(digest)
        if catalog is not None:
            return catalog
        keys = self._current_keys()
        name = keys and sealing.name(keys, _CATALOG + digest)
        (sealed,) = ids.store.get_many([name]) if name else (None,)
        if sealed:
            with contextlib.suppress(sealing.Unreadable):
                catalog = records.Catalog(sealing.unseal(keys, name, sealed))
                if catalog.digest == digest and self._keep_catalog(catalog):
                    return catalog
        return None

    def body(self, record: records.Record, with_catalog: bool) -> Any:
        """The body of a response in bytes; None if its catalog is missing."""
        catalog = record.own_catalog
        if record.catalog is None or not with_catalog or catalog:
            return record.body(catalog if with_catalog else None)
        with self._lock:
            catalog = self._catalogs.get(record.catalog)
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


def _opened(keys: Any, name: str, sealed: bytes) -> Any:
    if not sealed:
        return None
    try:
        return records.Record.unpacked(sealing.unseal(keys, name, sealed))
    except sealing.Unreadable:
        return None


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
    if wanted.token is None:
        return None
    verified = _verified.get({})
    if wanted.token not in verified:
        verified[wanted.token] = _made(wanted)
    return verified[wanted.token]


def _made(wanted: Wanted) -> Any:
    if wanted.is_unkept:
        RECORDS.note('not_kept: known')
    if wanted.is_unkept or wanted.is_revoked:
        return None
    try:
        return RECORDS.make(wanted)
    except NotKept as reason:
        RECORDS.note(f'not_kept: {reason}')
        RECORDS.remember_unkept(wanted)
    except Exception as error:
        # Normal processing reports it. The message may contain the token.
        LOG.debug('Failed to record token: %s', type(error).__name__)
    return None


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
