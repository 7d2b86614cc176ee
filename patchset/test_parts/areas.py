# SPDX-License-Identifier: Apache-2.0

"""Upstream's unit tests of the areas the patch set changes.

A quick look at the areas where a patch would first break something; the
part ``upstream`` runs them all.
"""

from patchset import assemble
from patchset import dependencies
from patchset.test_parts import stestr

PACKAGES = ('test',)
# Modules and classes of keystone.tests.unit, of the newest release.
NAMES = (
    'auth.plugins.test_core',
    'auth.test_controllers',
    'auth.test_schema',
    'catalog.test_core',
    'common.test_cache',
    'test_associate_project_endpoint_extension',
    'test_auth_plugin',
    'test_backend_sql.SqlCatalog',
    'test_middleware',
    'test_revoke',
    'test_token_provider',
    'test_v3_auth.TestTokenRevokeApi',
    'test_v3_auth.TestUserTokensRevoke',
    'test_v3_catalog',
    'test_v3_oauth1',
    'test_v3_os_revoke',
    'test_v3_trust',
    'token.test_fernet_provider',
    'token.test_jws_provider',
    'token.test_token_serialization',
    'trust.test_backends',
)


def run(options):
    tree = assemble.ensure(options.pin, options.stock)
    return stestr.run(
        options, 'areas', tree, modules=modules(tree), quick=True
    ).result


def modules(tree):
    """Full names of those that a tree has: an older one has not all."""
    names = [f'keystone.tests.unit.{name}' for name in NAMES]
    return [name for name in names if dependencies.stands(tree, name)]
