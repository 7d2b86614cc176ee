# SPDX-License-Identifier: Apache-2.0

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
