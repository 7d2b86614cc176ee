# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
