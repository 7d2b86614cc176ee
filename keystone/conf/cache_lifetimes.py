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

from oslo_config import cfg

from keystone.conf import utils

expire_in_backend = cfg.BoolOpt(
    'expire_in_backend',
    default=True,
    help=utils.fmt(
        """
Let the cache backend drop a value when its cache time is over: the
`cache_time` of its section, in seconds, or `[cache] expiration_time` where
that is not set. That time is then the longest that a value can be used after
it was stored, whatever clocks and processes do. The ids of the cache regions,
which tell whether a value was invalidated, never expire. When disabled, a
value stays in the backend until its memory is needed or `[cache]
backend_expiration_time` has passed, and each process compares the value's age
with the cache time by its own clock. If `[cache] backend_expiration_time` is
set, values expire after the shorter of both times. Memcached keeps no value
for longer than 30 days (2592000 seconds). This has no effect with
`oslo_cache.etcd3gw`, which cannot be told a time for each value.
"""
    ),
)

# Beside the options of oslo.cache.
GROUP_NAME = 'cache'
ALL_OPTS = [expire_in_backend]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
