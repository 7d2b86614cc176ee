# SPDX-License-Identifier: Apache-2.0

"""One process that caches values by Keystone's decorators.

On standard input, one JSON object for each line: first the options, as
``{section: {option: value}}``; then the commands, each a new request:

``{"read": SECTION}``
    reads a value that is cached as those of the section are, and answers it
``{"invalidate": null}``
    invalidates all values
``{"drop": SECTION}``
    drops the value of the section
``{"stored": null}``
    reads the id of the region as the servers hold it, and answers a number for
    it: the same for the same id, null if it is missing
    or cannot be read
``{"write": VALUE}``
    makes this the value that is read where nothing is cached

The answers are one JSON value for each line on standard output: of what went
wrong, ``"failed: KIND"``.
"""

import json
import sys

from keystone.common import cache
from keystone.common.cache import request_local
from keystone.common.cache import stores
import keystone.conf

CONF = keystone.conf.CONF
SECTIONS = ('role', 'identity', 'catalog', 'token')


class Worker:
    def __init__(self):
        self._value = None
        self._known = []
        self._region = cache.create_region('of the test')
        self._functions = {
            section: self._memoized(section) for section in SECTIONS
        }
        cache.configure_cache(self._region)
        cache.configure_invalidation_region()

    def _memoized(self, section):
        @cache.get_memoization_decorator(section, region=self._region)
        def memoized(section):
            return self._value

        return memoized

    def read(self, section):
        return self._functions[section](section)

    def invalidate(self, _):
        self._region.invalidate()

    def drop(self, section):
        self._functions[section].invalidate(section)

    def stored(self, _):
        manager = self._region.region_invalidator._region_manager
        ids = manager.ids
        try:
            (found,) = ids.store.get_many([ids.key(manager.name)])
        except stores.Unavailable:
            return None
        if ids.parse(found) is None:
            return None
        if found not in self._known:
            self._known.append(found)
        return self._known.index(found)

    def write(self, value):
        self._value = value

    def answer(self, command, argument):
        try:
            return getattr(self, command)(argument)
        except Exception as error:
            return f'failed: {type(error).__name__}'


def main():
    keystone.conf.configure()
    keystone.conf.set_external_opts_defaults()
    CONF([], project='keystone', default_config_files=[])
    for section, values in json.loads(sys.stdin.readline()).items():
        for name, value in values.items():
            CONF.set_override(name, value, section)
    worker = Worker()
    print(json.dumps('ready'), flush=True)
    for line in sys.stdin:
        ((command, argument),) = json.loads(line).items()
        request_local.begin({})
        print(json.dumps(worker.answer(command, argument)), flush=True)


if __name__ == '__main__':
    main()
