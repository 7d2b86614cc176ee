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

unpatched_nodes = cfg.BoolOpt(
    'unpatched_nodes',
    default=False,
    help=utils.fmt(
        """
Whether Keystones without this patch set use the same cache servers, as during
an upgrade of several nodes. Set this on each patched node before an unpatched
one runs beside it, and take it out when the last unpatched process has ended.
Each revocation then empties the token cache of all nodes: unpatched ones keep
in it that a token is not revoked, and without this accept a token revoked here
for up to `[token] cache_time` (in seconds, `[cache] expiration_time` where it
is not set). Neither answers to validations nor copies of cached values are
kept in the processes, since unpatched nodes do not tell of each change; and
what is cached in places that unpatched nodes do not know, credentials among
it, is looked up each time. Revoked tokens, deleted credentials and all that is
disabled are then refused on either side as soon as an unpatched node would see
it from another one. Requests cost more while this is set.
"""
    ),
)


GROUP_NAME = __name__.split('.')[-1]
ALL_OPTS = [together, unpatched_nodes]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
