# SPDX-License-Identifier: Apache-2.0

"""Objects that are reset in each forked process.

A fork may happen while another thread holds a lock or modifies an object. That
thread does not exist in the new process.
"""

import os
import weakref

_methods: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def call_now_and_after_fork(method):
    """Call a bound method, and again in all processes forked from now on.

    :param method: takes no arguments; its object is only referenced weakly,
        and can have one such method
    """
    method()
    _methods[method.__self__] = method.__func__


def run():
    """Call the methods; done automatically after a fork."""
    for one, method in list(_methods.items()):
        method(one)


os.register_at_fork(after_in_child=run)
