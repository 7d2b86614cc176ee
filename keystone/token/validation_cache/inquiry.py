# SPDX-License-Identifier: Apache-2.0

"""Selection of requests that can be answered from records.

Everything that normal processing reads from a request is one of its tokens,
part of its environment, or restricted here to values that do not affect the
response. Other requests bypass the cache.
"""

#: The path of validations, as passed by the server.
PATH = '/v3/auth/tokens'

_METHODS = frozenset(('GET', 'HEAD'))
_QUERIES = frozenset(('', 'nocatalog'))

# Read besides the tokens: used for access rules, routing and host checks.
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

# Headers that do not affect the response to a validation. They are only read
# for errors, logging and transport, or not at all.
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

# Variables set by servers besides the headers, ignored early.
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

# Headers, and variables set by other middleware about the caller.
_TELLING = ('HTTP_', 'KEYSTONE_', 'keystone.', 'openstack.')


def bypass(environ):
    """Why a request bypasses the cache.

    :param environ: WSGI environment of a request for :data:`PATH`
    :returns: a reason in one word, or None if it does not
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
    """Everything besides the tokens that a response may depend on.

    :param environ: WSGI environment of a request accepted by :func:`bypass`
    :returns: tuple
    """
    return tuple([environ.get(name) for name in _KEYED])
