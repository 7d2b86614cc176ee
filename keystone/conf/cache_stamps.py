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

together = cfg.BoolOpt(
    'together',
    default=True,
    help=utils.fmt(
        """
Read what tells that cached values are no longer valid, the ids of all cache
regions, with one query to the cache server when a request first uses the
cache. A request that takes long goes on with the ids that it has read: values
that are invalidated while it runs can still be used in it, and in no later
request. When disabled, each id is read from the server when it is first
needed, as an unpatched Keystone does; process-wide copies of cached values are
not used then.
"""
    ),
)


GROUP_NAME = __name__.split('.')[-1]
ALL_OPTS = [together]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
