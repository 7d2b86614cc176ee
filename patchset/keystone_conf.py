# SPDX-License-Identifier: Apache-2.0

"""A complete keystone.conf, which needs nothing in /etc/keystone."""

from patchset import errors
from patchset import urls

# The in-process cache. dogpile.cache.memory hands every caller the stored
# object itself, and Keystone adds links to some of them and takes fields
# from others; oslo_cache.dict fails when one thread stores while another
# deletes. This one keeps pickles, as a cache server does. Nothing bounds
# its size: a long-lived or busy server wants memcached.
IN_PROCESS = 'dogpile.cache.memory_pickle'
HEADER = """\
# Written by ./ks at each start. Options of your own belong in
# keystone.conf.d/*.conf, which are read after this file.
"""


def defaults(state, database, cache):
    """Options of a Keystone that keeps all its files in one folder.

    :param state: that folder
    :param database: SQLAlchemy URL
    :param cache: ``memcached://HOST:PORT``, or None for the in-process one
    :returns: {section: {option: value}}
    """
    options = {
        'DEFAULT': {'use_stderr': True},
        'database': {'connection': database},
        'cache': {'enabled': True, 'backend': IN_PROCESS},
        'token': {'provider': 'fernet'},
        'identity': {'domain_config_dir': state / 'domains'},
        # The rules are in the code; this file may overrule some.
        'oslo_policy': {'policy_file': state / 'policy.yaml'},
        **keys(state),
    }
    if cache:
        options['cache'].update(
            backend='dogpile.cache.memcached',
            memcache_servers=urls.cache_servers(cache),
        )
    return options


def keys(state):
    """Options of the keys, which several Keystones may share.

    :param state: folder that has them
    :returns: {section: {option: value}}
    """
    fernet = state / 'fernet-keys'
    return {
        'fernet_tokens': {'key_repository': fernet},
        'fernet_receipts': {'key_repository': fernet},
        'credential': {'key_repository': state / 'credential-keys'},
        'jwt_tokens': {
            'jws_private_key_repository': state / 'jws-private-keys',
            'jws_public_key_repository': state / 'jws-public-keys',
        },
    }


def merge(*several):
    """Several options put on top of each other; None has no options."""
    merged = {}
    for options in filter(None, several):
        for section, pairs in options.items():
            merged.setdefault(section, {}).update(pairs)
    return merged


def render(options):
    """Text of a configuration file; a list makes a repeated option."""
    lines = []
    for section, pairs in options.items():
        lines += ['', f'[{section}]']
        for name, value in pairs.items():
            values = value if isinstance(value, list) else [value]
            lines += [f'{name} = {_text(name, one)}' for one in values]
    return '\n'.join(lines) + '\n'


def _text(name, value):
    text = str(value)
    if '\n' in text or '\r' in text:
        raise errors.Error(f'option {name} must be a single line')
    if text != text.strip() or text[:1] in ('"', "'"):
        text = f'"{text}"'  # the reader strips one pair of quotes
    return text.replace('$', '$$')
