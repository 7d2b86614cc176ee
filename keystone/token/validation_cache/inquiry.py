# SPDX-License-Identifier: Apache-2.0

"""Which requests may be answered from records.

Whatever the usual way reads from a request is either one of its tokens, or
its surroundings, or limited here to values that make no difference. A request
that has anything else is not for the cache.
"""

#: The path of validations, as the server hands it on.
PATH = '/v3/auth/tokens'

_METHODS = frozenset(('GET', 'HEAD'))
_QUERIES = frozenset(('', 'nocatalog'))

# Read on the way besides the tokens: what decides about access rules, and what
# routing and the checks of hosts look at.
_KEYED = (
    'REQUEST_METHOD',
    'QUERY_STRING',
    'HTTP_OPENSTACK_IDENTITY_ACCESS_RULES',
    'HTTP_HOST',
    'HTTP_FORWARDED',
    'HTTP_X_FORWARDED_HOST',
    'HTTP_X_FORWARDED_PORT',
    'HTTP_X_FORWARDED_PREFIX',
    'HTTP_X_FORWARDED_PROTO',
    'SCRIPT_NAME',
    'SERVER_NAME',
    'SERVER_PORT',
    'SERVER_PROTOCOL',
    'wsgi.url_scheme',
)

# Headers that no answer to a validation depends on. They are read for errors,
# logs and traffic only, or not at all.
_IGNORED = (
    'HTTP_ACCEPT',
    'HTTP_ACCEPT_ENCODING',
    'HTTP_ACCEPT_LANGUAGE',
    'HTTP_CACHE_CONTROL',
    'HTTP_CONNECTION',
    'HTTP_CONTENT_LENGTH',
    'HTTP_CONTENT_TYPE',
    'HTTP_KEEP_ALIVE',
    'HTTP_PRAGMA',
    'HTTP_USER_AGENT',
    'HTTP_VIA',
    'HTTP_X_FORWARDED_FOR',
    'HTTP_X_OPENSTACK_REQUEST_ID',
    'HTTP_X_REAL_IP',
)

# What servers put beside the headers, here to be dismissed at once.
_SERVERS = (
    'CONTENT_LENGTH',
    'CONTENT_TYPE',
    'DOCUMENT_ROOT',
    'HTTPS',
    'PATH_INFO',
    'REMOTE_ADDR',
    'REMOTE_HOST',
    'REMOTE_PORT',
    'REQUEST_SCHEME',
    'REQUEST_URI',
    'uwsgi.core',
    'uwsgi.node',
    'uwsgi.version',
    'wsgi.errors',
    'wsgi.file_wrapper',
    'wsgi.input',
    'wsgi.input_terminated',
    'wsgi.multiprocess',
    'wsgi.multithread',
    'wsgi.run_once',
    'wsgi.version',
    'x-wsgiorg.uwsgi.version',
)
_TOKENS = ('HTTP_X_AUTH_TOKEN', 'HTTP_X_SUBJECT_TOKEN')
_KNOWN = frozenset((*_TOKENS, *_KEYED, *_IGNORED, *_SERVERS))

# Headers, and what another middleware has found out about the caller.
_TELLING = ('HTTP_', 'KEYSTONE_', 'keystone.', 'openstack.')


def bypass(environ):
    """Tell why a request is not for the cache.

    :param environ: WSGI environment of a request for :data:`PATH`
    :returns: a reason in one word, or None if it is
    """
    if environ['REQUEST_METHOD'] not in _METHODS:
        return 'method'
    if environ.get('QUERY_STRING', '') not in _QUERIES:
        return 'query'
    if not environ.get('HTTP_X_AUTH_TOKEN'):
        return 'caller'
    if not environ.get('HTTP_X_SUBJECT_TOKEN'):
        return 'subject'
    if environ.get('CONTENT_LENGTH', '') not in ('', '0'):
        return 'body'
    for name in environ.keys() - _KNOWN:
        if name.startswith(_TELLING):
            return 'header'
    return None


def surroundings(environ):
    """What besides the tokens an answer can depend on.

    :param environ: WSGI environment of a request that :func:`bypass` lets pass
    :returns: tuple
    """
    return tuple([environ.get(name) for name in _KEYED])
