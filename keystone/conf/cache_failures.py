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

survive_failures = cfg.BoolOpt(
    'survive_failures',
    default=True,
    help=utils.fmt(
        """
Go on when a cache server fails. What cannot be read from it is looked up in
the database, and no write fails because the cache cannot be told of it. An
invalidation that the server does not take is made up for as soon as it takes
one; the process that made it uses no invalidated value meanwhile. A server
that comes back with the contents of an earlier time does not put values back
into force that a process has seen invalidated. Other processes that reach the
server while this one does not may use an invalidated value until its
`cache_time` is over (in seconds, `[cache] expiration_time` where it is not
set), but a revoked token for no more than `[revoke] sync_interval` seconds.
After a failure a process leaves the servers alone for 1 to 10 seconds,
depending on how long it has waited for them. When disabled, whether a failure
is an error of the request or goes unnoticed depends on the `[cache] backend`.
"""
    ),
)

# Beside the options of oslo.cache.
GROUP_NAME = 'cache'
ALL_OPTS = [survive_failures]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
