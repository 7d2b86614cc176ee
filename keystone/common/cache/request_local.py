# SPDX-License-Identifier: Apache-2.0

"""Lifetime of the request-local cache.

It is stored in the context of the request, which stays on the thread when the
request ends.
"""

from oslo_context import context as oslo_context

from keystone.common import context

_CONTEXT = 'keystone.request_local.context'
#: Prefix of the keys of keystone.common.cache.
PREFIX = '_request_cache_'
_BEGUN = PREFIX + 'begun'


def begin(environ):
    """Discard what the previous request on this thread has cached.

    Called by the first part of the pipeline that uses the cache; further calls
    for the same request have no effect.

    :param environ: WSGI environment of the request
    """
    if _CONTEXT not in environ:
        environ[_CONTEXT] = context.RequestContext(
            overwrite=False, request_id=environ.get('openstack.request_id')
        )
        setattr(environ[_CONTEXT], _BEGUN, True)
    environ[_CONTEXT].update_store()


def current():
    """The context last begun by a request on this thread.

    :returns: RequestContext, or None
    """
    found = oslo_context.get_current()
    return found if getattr(found, _BEGUN, False) else None


def keep(environ, request_context):
    """Pass the cached values of this request on to a later context.

    :param environ: WSGI environment of the request
    :param request_context: RequestContext that replaces the first one
    """
    first = vars(environ[_CONTEXT]) if _CONTEXT in environ else {}
    for name, value in first.items():
        if name.startswith(PREFIX):
            setattr(request_context, name, value)
