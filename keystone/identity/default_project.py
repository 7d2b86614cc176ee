# SPDX-License-Identifier: Apache-2.0

"""Invalidation of the users whose default project is deleted."""

from collections.abc import Callable
import functools
from typing import Any

from keystone.common import driver_hints


def invalidate_users(unset: Callable) -> Callable:
    """Decorate the callback that unsets a default project that was deleted.

    :param unset: method of the manager, with the arguments of a callback of
        :mod:`keystone.notifications`
    """

    @functools.wraps(unset)
    def wrapper(manager: Any, *args: Any) -> None:
        project_id = args[-1]['resource_info']
        configured = [one['driver'] for one in manager.domain_configs.values()]
        users = []
        for driver in (manager.driver, *configured):
            # Others only read it from where they have the user.
            if driver.is_sql:
                hints = driver_hints.Hints()
                hints.add_filter('default_project_id', project_id)
                users += driver.list_users(hints)
        try:
            unset(manager, *args)
        finally:
            for user in users:
                manager.get_user.invalidate(manager, user['id'])
                manager.get_user_by_name.invalidate(
                    manager, user['name'], user['domain_id']
                )

    return wrapper
