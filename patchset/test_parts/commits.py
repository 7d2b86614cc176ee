# SPDX-License-Identifier: Apache-2.0

"""Verify that each topic is self-contained.

A reviewer takes the topics one at a time. With nothing but its dependencies,
a topic's own tests and upstream's tests of the changed areas must pass.
"""

from patchset import assemble
from patchset import export
from patchset import paths
from patchset import progress
from patchset import series
from patchset.test_parts import areas
from patchset.test_parts import proof
from patchset.test_parts import results
from patchset.test_parts import stestr

PACKAGES = ('test',)


def run(options):
    topics = series.load(options.pin.release)
    chosen = options.chosen(topics)
    total = results.Result()
    with paths.temporary(parent=paths.BUILD) as temporary:
        clone = export.Clone(assemble.ensure(options.pin), topics, temporary)
        tree = clone.folder
        for number, topic in enumerate(chosen, 1):
            clone.make(export.closure(topics, [topic.name]))
            assemble.write_metadata(tree, options.pin.local_version)
            result = stestr.run(
                options, 'commits', tree,
                modules=[*areas.modules(tree), *proof.tests(topic)],
                quick=True,
            ).result  # fmt: skip
            total += result
            progress.say(f'{number} of {len(chosen)}: {topic.name}: {result}')
    return total
