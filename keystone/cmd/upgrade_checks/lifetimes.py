# SPDX-License-Identifier: Apache-2.0

"""Lifetimes of cached values."""

from keystone.cmd.upgrade_checks import findings
import keystone.conf

CONF = keystone.conf.CONF

# Sections whose values affect authorization or the body of a token.
_SECTIONS = (
    'application_credential',
    'catalog',
    'credential',
    'identity',
    'resource',
    'role',
    'token',
)

# Seconds.
_LONGEST = 3600


def check(commands):
    return findings.result(_find(), 'Cached values expire within an hour.')


def effective(section):
    """The effective cache time of a section and its option.

    :returns: (seconds, name)
    """
    own = getattr(CONF[section], 'cache_time', None)
    if own is None:
        return CONF.cache.expiration_time, '[cache] expiration_time'
    return own, f'[{section}] cache_time'


def _find():
    if not CONF.cache.enabled:
        return
    off = [name for name in _SECTIONS if not CONF[name].caching]
    if off:
        yield (
            findings.WARNING,
            f'[{"], [".join(off)}] caching is off: these values are read '
            'from the database for each request.',
        )
    # Tokens are not cached: they depend on the lifetimes of other values.
    times = {
        effective(name)
        for name in _SECTIONS
        if CONF[name].caching and name != 'token'
    }
    for seconds, name in sorted(times):
        if seconds < 0 or seconds > _LONGEST:
            yield (
                findings.WARNING,
                f'{name} is {seconds}: if an invalidation is lost, or the '
                'database is changed directly, the old value is used '
                + ('forever.' if seconds < 0 else 'for that many seconds.'),
            )
        elif seconds == 0:
            yield findings.WARNING, f'{name} is 0: nothing is cached.'
