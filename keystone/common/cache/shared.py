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

"""Whether other processes see what this one caches."""

import keystone.conf

CONF = keystone.conf.CONF

# Backends that all processes of a cloud can share. Any other may be one of
# this process alone, which tells nothing about other processes.
_BACKENDS = frozenset(
    (
        'dogpile.cache.bmemcached',
        'dogpile.cache.memcached',
        'dogpile.cache.pylibmc',
        'dogpile.cache.pymemcache',
        'dogpile.cache.redis',
        'dogpile.cache.redis_sentinel',
        'dogpile.cache.valkey',
        'dogpile.cache.valkey_sentinel',
        'oslo_cache.etcd3gw',
        'oslo_cache.memcache_pool',
        'oslo_cache.mongo',
    )
)


def is_shared():
    """Tell whether other processes read and write the same cache."""
    return CONF.cache.enabled and CONF.cache.backend in _BACKENDS
