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

"""All that can happen: importing the modules registers it."""

from patchset.walk.operations import assignments
from patchset.walk.operations import catalog
from patchset.walk.operations import delegations
from patchset.walk.operations import federation
from patchset.walk.operations import identity
from patchset.walk.operations import ldap
from patchset.walk.operations import resources
from patchset.walk.operations import servers
from patchset.walk.operations import tokens

__all__ = (
    'assignments', 'catalog', 'delegations', 'federation', 'identity', 'ldap',
    'resources', 'servers', 'tokens',
)  # fmt: skip
