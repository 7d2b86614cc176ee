# SPDX-License-Identifier: Apache-2.0

"""Tempest's token tests, against a Keystone with real servers.

Tokens, and what makes and revokes them: trusts, application credentials
and OAuth; the tests of the patch set's own tempest plugin as well. The part
``tempest`` runs them all. Then a minute of the part ``walk``.
"""

import re

from patchset import assemble
from patchset.test_parts import stestr
from patchset.test_parts import tempest
from patchset.test_parts import walk

PACKAGES = ('integration',)
EXPRESSION = (
    r'^tempest\.api\.identity\..*\.test_(tokens|trusts|application_cred)'
    r'|^keystone_tempest_plugin\..*\.test_(token|oauth1_tokens)\.'
    # A rate falls as well when the machine has other work.
    r'|^revcache_tempest_plugin\.(?!.*\.test_validation_rate\.)'
)


def run(options):
    expression = stestr.both(EXPRESSION, options.expression)
    tree = assemble.ensure(options.pin, options.stock)
    report = tempest.run_suite(
        options, 'smoke', expression, settings=promises(tree)
    )
    # Stock alone cannot be compared with anything.
    if options.stock or not re.search(options.expression or '', 'walk'):
        return report.result
    return report.result + walk.run(options)


def promises(tree):
    """Settings for what only some releases of Keystone promise."""
    users = (tree / 'keystone' / 'api' / 'users.py').read_text()
    there = "'/users/<string:user_id>/tokens'" in users
    return {'revcache': {'user_tokens_revocation': there}}
