# SPDX-License-Identifier: Apache-2.0

"""Worker processes and two Keystones with real servers.

This repository's own tests of the revocation replica, of pruning and of the
caches: MariaDB, PostgreSQL, a Galera cluster, memcached and Redis that skew,
lag, stop, pause, evict, restart and lose rows, one test after the other.
``KS_ROUNDS`` sets the number of rounds of revoking on one Keystone and
validating on the other, ``KS_SECONDS`` how long several processes revoke and
prune at once, and how long a cache server is away. ``--database-url`` instead
runs the tests of the replica and of pruning on a database at hand.
"""

import dataclasses

from patchset import paths
from patchset.test_parts import stestr

PACKAGES = ('test', 'integration')
FOLDER = 'patchset/tests/integration'
#: The environment variable that names the database at hand.
DATABASE_URL = 'KS_DATABASE_URL'
_GIVEN = r'\.GivenDatabaseTests\.'


def run(options):
    # These tests wait for each other's time: one after the other.
    options = dataclasses.replace(options, concurrency=1)
    variables = {}
    if options.database_url:
        variables[DATABASE_URL] = options.database_url
        options = dataclasses.replace(
            options, expression=stestr.both(options.expression, _GIVEN)
        )
    report = stestr.run(
        options, 'integration', paths.ROOT, folder=FOLDER, variables=variables
    )
    return report.result
