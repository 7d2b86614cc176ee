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

"""Versions of what cached values are about, as a part of their keys.

Who drops a value by its key cannot stop a reader who has read the old state
and stores it later. Who gives a version anew can: values of the old one are
stored where nobody looks. Invariant: a version is read before what is cached
under it, and dropped after the write.

Other releases know the regions alone. While they are there, see
``[cache_stamps] unpatched_nodes``, the whole region is invalidated instead.
"""

from collections.abc import Callable
from collections.abc import Iterable
import inspect
import secrets
from typing import Any

from dogpile.cache import region as dogpile_region

from keystone.common import cache
from keystone.common.cache import after_write
from keystone.common.cache import unpatched_nodes

_MEMOIZE = cache.get_memoization_decorator(group='role')


@_MEMOIZE
def _version(subject: str) -> str:
    return secrets.token_hex(8)


def in_keys(
    region: dogpile_region.CacheRegion,
    subject_of: Callable[[str, dict[str, Any]], str | None],
) -> None:
    """Let the keys of a region hold versions.

    :param region: before any function is memoized in it
    :param subject_of: tells what a value is about, by the function's name and
        its arguments by name; None for a value without a version
    """
    generator = region.function_key_generator

    def of_function(namespace: str, function: Callable, **kwargs: Any) -> Any:
        generate = generator(namespace, function, **kwargs)
        signature = inspect.signature(function)

        def key(*args: Any, **kwargs: Any) -> str:
            text = generate(*args, **kwargs)
            try:
                arguments = signature.bind(*args, **kwargs).arguments
            except TypeError:
                # The key of no value: upstream's tests invalidate such ones.
                return text
            subject = subject_of(function.__name__, arguments)
            return text if subject is None else f'{text}:{_version(subject)}'

        return key

    region.function_key_generator = of_function


def drop(region: dogpile_region.CacheRegion, subjects: Iterable[str]) -> None:
    """Drop what is cached about some subjects in a region.

    Within a write, when it is over, too: see
    :mod:`keystone.common.cache.after_write`.
    """
    if unpatched_nodes.are_there():
        region.invalidate()
    else:
        after_write.invalidate(_Versions(region, tuple(subjects)))


class _Versions:
    """Some versions, to be dropped as a region is."""

    def __init__(
        self, region: dogpile_region.CacheRegion, subjects: tuple[str, ...]
    ) -> None:
        manager = region.region_invalidator._region_manager
        self.REGION_KEY_PREFIX = manager.REGION_KEY_PREFIX
        self.is_region_key = manager.is_region_key
        self._subjects = subjects

    def invalidate_region(self) -> None:
        for subject in self._subjects:
            _version.invalidate(subject)
