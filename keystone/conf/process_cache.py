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

enabled = cfg.BoolOpt(
    'enabled',
    default=True,
    help=utils.fmt(
        """
Keep copies of values from the shared cache in the memory of each worker
process, so that most requests ask the cache server once. A copy is used only
while the server says that nothing was deleted or replaced since it was made:
what a patched Keystone invalidates is not used by any request that begins
after the invalidation. `[process_cache] max_age` is the bound for whatever
else writes to the shared cache. This has no effect unless `[cache] backend` is
one that processes share, and `[cache_stamps] together` is enabled.
"""
    ),
)

max_age = cfg.IntOpt(
    'max_age',
    default=10,
    min=1,
    help=utils.fmt(
        """
How long (in seconds) a worker process uses its copy of a value before it asks
the shared cache again. This is the longest time that a value can still be used
after an unpatched Keystone has deleted it from the shared cache while
`[cache_stamps] unpatched_nodes` is off, or after a sign of its deletion was
lost with a cache server. A lower value costs more queries, one per value in
use, worker process and interval at most. The age of the value itself goes on
counting: a copy never outlives the `cache_time` of its kind. This has no
effect unless `[process_cache] enabled` is true.
"""
    ),
)

max_entries = cfg.IntOpt(
    'max_entries',
    default=20000,
    min=1,
    help=utils.fmt(
        """
How many values a worker process keeps copies of. The oldest copies go first. A
token in use needs three to five values, most of which it shares with other
tokens. A lower value saves memory, and costs queries to the shared cache where
more values are in use.
"""
    ),
)

max_bytes = cfg.IntOpt(
    'max_bytes',
    default=16 * 1024 * 1024,
    min=1,
    help=utils.fmt(
        """
How much memory (in bytes) the copies of a worker process take, keys and
overhead included. The oldest copies go first, and a value that takes more than
a quarter of it is not copied. A lower value saves memory, and costs queries to
the shared cache where more values are in use.
"""
    ),
)


GROUP_NAME = __name__.split('.')[-1]
ALL_OPTS = [enabled, max_age, max_entries, max_bytes]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
