# SPDX-License-Identifier: Apache-2.0

"""``keystone-status`` checks for settings that defeat this patch set.

They read the configuration and contact the cache servers, but not the
database. A warning is a setting that costs performance or weakens a bound
during failures. A failure is one with which revoked or disabled entities are
accepted even while all services work.
"""

from collections.abc import Iterator
import contextlib
import functools
import secrets

from dogpile.cache import region as dogpile_region
from oslo_cache import core as oslo_cache
from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from keystone.cmd.fernet_keys import status as fernet_status
from keystone.common.cache import shared
from keystone.common import circuit_breaker
from keystone.common import memcached_servers
from keystone.common import provider_api
import keystone.conf
from keystone.revoke.backends import incremental

CONF = keystone.conf.CONF
PROVIDERS = provider_api.ProviderAPIs

FAILURE = upgradecheck.Code.FAILURE
WARNING = upgradecheck.Code.WARNING
SUCCESS = upgradecheck.Code.SUCCESS

# Backends that store nothing, and apply the same lease time to all values.
_NULL = 'dogpile.cache.null'
_ETCD = 'oslo_cache.etcd3gw'

# Sections whose values nearly all validations read: without caching, no result
# is kept. And those whose values affect authorization or the body of a token.
_OF_VALIDATIONS = ('federation', 'identity', 'resource', 'role', 'token')
_SECTIONS = (
    'application_credential', 'catalog', 'credential', *_OF_VALIDATIONS,
)  # fmt: skip

# Seconds.
_LONGEST_LIFETIME = 3600
_LONGEST_INTERVAL = 60
_SHORTEST_OVERLAP = 10

# (section, option, effect of disabling it)
_SWITCHES = (
    ('catalog', 'in_process_size',
     'the catalog of each user and project is read from the database'),
    ('revoke', 'max_events_in_memory',
     'each validation is fully computed and reads revocation events from the '
     'database, which takes longer the more there are'),
    ('token', 'validation_cache_size', 'each validation is fully computed'),
)  # fmt: skip


def check(fine):
    """Decorate a function that yields findings, to make a check of it.

    A finding is a :class:`upgradecheck.Code` and a sentence, or the sentence
    of a warning. The result has the worst of the codes.

    :param fine: sentence to use if there are no findings
    """

    def decorate(find):
        @functools.wraps(find)
        def checked(_commands):
            found = [
                (WARNING, one) if isinstance(one, str) else one
                for one in find()
            ] or [(SUCCESS, fine)]
            return upgradecheck.Result(
                max(code for code, _ in found),
                ' '.join(text for _, text in found),
            )

        return checked

    return decorate


def _region() -> dogpile_region.CacheRegion:
    region = oslo_cache.create_region()
    return oslo_cache.configure_cache_region(CONF, region)


@functools.cache
def _keeps() -> bool:
    """Whether the cache returns a value just stored; checked once."""
    try:
        region = _region()
        key = f'keystone-status-{secrets.token_hex(16)}'
        region.set(key, key)
        found = region.get(key)
        region.delete(key)
    except Exception:
        # The error message may contain credentials.
        return False
    return found == key


def _unreachable_servers() -> Iterator[str]:
    """The addresses of memcached servers that do not respond."""
    backend = _region().actual_backend
    if memcached_servers.can_connect(backend):
        for address, server in memcached_servers.connect(backend).items():
            try:
                server.run('get_many', ['keystone-status'])
            except circuit_breaker.Unavailable:
                yield address


@check('Processes share a working cache.')
def shared_cache():
    backend = CONF.cache.backend
    if not CONF.cache.enabled or backend == _NULL:
        yield (
            'Nothing is cached: each request is fully processed and queries '
            'the database for revocation events. Set [cache] enabled, '
            'backend and the servers.'
        )
        return
    if not shared.is_shared():
        yield (
            f'[cache] backend is {backend}, which is not known to be shared '
            'between processes. Users, projects and grants that one process '
            'disables or removes are accepted by other processes until their '
            'cached values expire. Validation results are not kept.'
        )
        return
    if backend == _ETCD:
        yield (
            f'{_ETCD} expires the ids of cache regions, which invalidates all '
            'cached values. Use memcached, Redis or Valkey.'
        )
    if not _keeps():
        yield (
            FAILURE,
            'The cache does not return a value just stored. Check that the '
            'configured servers are correct and reachable. Invalidations by '
            'this node do not reach other nodes, which accept disabled '
            'entities until their cached values expire.',
        )
    elif unreachable := list(_unreachable_servers()):
        yield (
            f'Unreachable cache servers: {", ".join(unreachable)}. Until they '
            'return, each change invalidates all cached values of its kind.'
        )


def _lifetime(section: str) -> tuple[int, str]:
    """Seconds for which values are cached, and the option that applies."""
    own = getattr(CONF[section], 'cache_time', None)
    if own is None:
        return CONF.cache.expiration_time, '[cache] expiration_time'
    return own, f'[{section}] cache_time'


@check('Cached values expire within an hour.')
def lifetimes():
    if not CONF.cache.enabled:
        return
    off = [name for name in _SECTIONS if not CONF[name].caching]
    if off:
        yield (
            f'[{"], [".join(off)}] caching is off: these values are read '
            'from the database for each request.'
        )
    times = {_lifetime(name) for name in _SECTIONS if name not in off}
    for seconds, name in sorted(times):
        if seconds < 0 or seconds > _LONGEST_LIFETIME:
            yield (
                f'{name} is {seconds}: if an invalidation is lost, or the '
                'database is changed directly, the old value is used '
                + ('forever.' if seconds < 0 else 'for that many seconds.')
            )
        elif seconds == 0:
            yield f'{name} is 0: nothing is cached.'


@check('Tokens are checked against a synchronized replica.')
def revocation_events():
    if not CONF.revoke.max_events_in_memory:
        yield SUCCESS, 'Not checked: a feature is disabled.'
        return
    if not isinstance(
        PROVIDERS.revoke_api.driver, incremental.IncrementalRead
    ):
        yield (
            f'[revoke] driver {CONF.revoke.driver} does not support '
            'incremental reads: each validation queries it for the events '
            'that may apply to the token.'
        )
        return
    interval = CONF.revoke.sync_interval
    if shared.is_shared() and not _keeps():
        yield (
            FAILURE,
            'The cache does not return a value just stored: tokens revoked '
            'by another process are accepted for up to [revoke] '
            f'sync_interval, {interval} seconds.',
        )
    elif shared.is_shared() and interval > _LONGEST_INTERVAL:
        yield (
            f'[revoke] sync_interval is {interval}: if the cache loses the '
            'announcement of a revocation, the token is accepted for up to '
            'that many seconds.'
        )
    if CONF.revoke.sync_overlap < _SHORTEST_OVERLAP:
        yield (
            f'[revoke] sync_overlap is {CONF.revoke.sync_overlap}: a '
            'revocation whose transaction takes longer than that many '
            'seconds may take effect late.'
        )
    if not CONF.revoke.recount_interval:
        yield (
            '[revoke] recount_interval is 0: a missed revocation is never '
            'detected, and the token is accepted until it expires.'
        )
    if not CONF.revoke.prune_interval:
        yield (
            '[revoke] prune_interval is 0: expired events accumulate unless '
            'keystone-manage revocation_prune runs regularly.'
        )


@check('Validation results are kept.')
def validation_cache():
    if not shared.is_shared():
        yield (
            SUCCESS,
            'Validation results are not kept: no shared cache is configured.',
        )
        return
    if not _keeps():
        yield (
            SUCCESS,
            'Not checked: the cache does not return a value just stored.',
        )
        return
    if not (
        CONF.token.validation_cache_size and CONF.revoke.max_events_in_memory
    ):
        yield SUCCESS, 'Not checked: a feature is disabled.'
        return
    off = [f'[{s}] caching' for s in _OF_VALIDATIONS if not CONF[s].caching]
    times = [_lifetime(one) for one in _OF_VALIDATIONS if one != 'token']
    off += [option for seconds, option in times if seconds == 0]
    if off:
        yield f'Validation results are not kept: {", ".join(off)} is off or 0.'
    with contextlib.suppress(cfg.DuplicateOptError):
        # The command does not set up logging, which would register it.
        CONF.register_opt(cfg.BoolOpt('debug', default=False))
    if CONF.debug:
        yield (
            '[DEFAULT] debug is on: validation results are not reused, since '
            'each validation is logged in full.'
        )


@check('All features are enabled.')
def disabled_features():
    for section, option, what in _SWITCHES:
        value = CONF[section][option]
        if not value:
            yield f'[{section}] {option} is {value}: {what}.'


#: As in ``oslo_upgradecheck.upgradecheck.UpgradeCommands``: (name, check).
CHECKS = (
    ('Shared cache', shared_cache),
    ('Lifetimes of cached values', lifetimes),
    ('Revocation events', revocation_events),
    ('Validation cache', validation_cache),
    ('Disabled features', disabled_features),
    (
        'Fernet keys',
        check('All nodes have the same keys.')(fernet_status.findings),
    ),
)
