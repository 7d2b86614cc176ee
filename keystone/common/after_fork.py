# SPDX-License-Identifier: Apache-2.0

"""Objects that begin anew in each forked process.

A fork may happen while another thread holds a lock, or changes what the object
keeps. That thread is not there in the new process.
"""

import os
import weakref

_methods = weakref.WeakKeyDictionary()


def call(method):
    """Call a bound method in all processes that are forked from now on.

    :param method: takes no arguments; its object is not kept alive by this,
        and has no other such method
    """
    _methods[method.__self__] = method.__func__


def run():
    """Call the methods; the forked process does so by itself."""
    for one, method in list(_methods.items()):
        method(one)


os.register_at_fork(after_in_child=run)
