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

"""The cache region of credentials, and when it is dropped.

It holds rows as the database has them, with the blob encrypted. A region of
its own is dropped as a whole: whoever has read the old row before a write, and
caches it afterwards, stores it where nobody looks. Nobody's users, projects
and roles are dropped with it.
"""

import functools

from keystone.common import cache
from keystone import notifications

REGION = cache.create_region(name='credentials')


def drop_after(write):
    """Decorate a function that changes or deletes credentials.

    The cached ones are dropped when it has returned or raised: an error does
    not tell that nothing was written.
    """

    @functools.wraps(write)
    def wrapper(*args, **kwargs):
        try:
            return write(*args, **kwargs)
        finally:
            REGION.invalidate()

    return wrapper


def drop_when_disabled():
    """Drop them when a user, a project or a domain is disabled, too.

    What was decrypted for those who cannot use it any more goes with them.
    """
    actions = notifications.ACTIONS
    for action, resource in (
        (actions.disabled, 'user'),
        (actions.disabled, 'project'),
        (actions.disabled, 'domain'),
        # How users are disabled through Keystone, or get another password.
        (actions.internal, notifications.PERSIST_REVOCATION_EVENT_FOR_USER),
    ):
        notifications.register_event_callback(action, resource, _drop)


def _drop(service, resource_type, operation, payload):
    REGION.invalidate()
