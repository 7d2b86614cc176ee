# SPDX-License-Identifier: Apache-2.0

"""How long values are used that nobody has invalidated."""

from keystone.cmd.upgrade_checks import findings
import keystone.conf

CONF = keystone.conf.CONF

# The sections whose values decide who gets in, or what a token shows.
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
    return findings.result(_find(), 'Cached values expire in time.')


def effective(section):
    """The cache time of a section and the option it comes from.

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
            'from the database each time.',
        )
    # Tokens are not cached: their answers hold as long as the other values.
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
                'database is changed by hand, the old value is accepted for '
                'that many seconds'
                + (', which is for ever.' if seconds < 0 else '.'),
            )
        elif seconds == 0:
            yield findings.WARNING, f'{name} is 0: nothing is cached.'
