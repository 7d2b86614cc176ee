# SPDX-License-Identifier: Apache-2.0

"""A sample of each kind of test, in under two minutes.

The form of a release's patches; for each area one topic's tests, which fail
without its patch and pass with it; and the revocation of tokens, on a server
with MariaDB, memcached and uWSGI.
"""

import dataclasses

from patchset import paths
from patchset import progress
from patchset import series
from patchset.test_parts import checks
from patchset.test_parts import lint
from patchset.test_parts import proof
from patchset.test_parts import results
from patchset.test_parts import smoke
from patchset.test_parts import stestr

PACKAGES = ('test', 'integration')
# One of each area: small corrections, revocation, caches, validation.
TOPICS = (
    'auth-context-per-request',
    'allow-expired-window',
    'invalidate-after-write',
    'token-validated-once',
)
TOKENS = r'revcache_tempest_plugin\..*\.test_tokens\.'


def run(options):
    topics = dataclasses.replace(options, topics=TOPICS)
    tokens = dataclasses.replace(
        options, expression=stestr.both(TOKENS, options.expression)
    )
    total = results.Result()
    for name, function, chosen in (
        ('form', form, options),
        ('proof', proof.run, topics),
        ('unit', unit, topics),
        ('smoke', smoke.run, tokens),
    ):
        result = function(chosen)
        progress.say(f'quick, {name}: {result}')
        total += result
    return total


def form(options):
    """Check the form of the release's patches; each counts as one test."""
    folder = paths.ROOT / 'patches' / options.pin.release
    patches = sorted(folder.rglob('*.patch'))
    return checks.run(lint.forms(patches), options.expression)


def unit(options):
    """Run the tests of the topics in the patched tree."""
    topics = options.chosen(series.load(options.pin.release))
    modules = [name for topic in topics for name in proof.tests(topic)]
    return stestr.run(options, 'quick', modules=modules, quick=True).result
