# SPDX-License-Identifier: Apache-2.0

"""The life of the request-local cache.

It stands on the context of the request, which stays on the thread when the
request is over.
"""

from oslo_context import context as oslo_context

from keystone.common import context

_CONTEXT = 'keystone.request_local.context'
#: What keystone.common.cache puts before its keys.
PREFIX = '_request_cache_'
_BEGUN = PREFIX + 'begun'


def begin(environ):
    """Forget what the last request on this thread has cached.

    Whatever of the pipeline uses the cache first calls this; later calls for
    the same request change nothing.

    :param environ: WSGI environment of the request that begins
    """
    if _CONTEXT not in environ:
        environ[_CONTEXT] = context.RequestContext(
            overwrite=False, request_id=environ.get('openstack.request_id')
        )
        setattr(environ[_CONTEXT], _BEGUN, True)
    environ[_CONTEXT].update_store()


def current():
    """The context of the request that this thread works on.

    It stays after the request, until the next one on this thread begins.

    :returns: RequestContext, or None if this thread works on none
    """
    found = oslo_context.get_current()
    return found if getattr(found, _BEGUN, False) else None


def keep(environ, request_context):
    """Hand on to a later context what this request has cached.

    :param environ: WSGI environment of the request
    :param request_context: RequestContext that takes the place of the first
    """
    first = vars(environ[_CONTEXT]) if _CONTEXT in environ else {}
    for name, value in first.items():
        if name.startswith(PREFIX):
            setattr(request_context, name, value)
