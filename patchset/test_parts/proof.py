# SPDX-License-Identifier: Apache-2.0

"""Verify that each topic's tests fail without its patch.

A test that passes on stock proves nothing. Here, the topics' tests run on
a tree that has all overlay files and none of the hunks: of each topic that
changes upstream files, at least one test must fail there. The first one
that does is enough.
"""

import dataclasses
import pathlib
import shutil

from patchset import assemble
from patchset import paths
from patchset import series
from patchset.test_parts import durations
from patchset.test_parts import stestr

PACKAGES = ('test',)
FOLDER = 'keystone/tests/unit/'
# Stands in for a folder of tests.
_PROOFS = """\
import sys

sys.path.append({folder!r})

import proof_tests

def load_tests(loader, tests, pattern):
    return proof_tests.load(loader, {topics!r}, {expression!r}, {last!r})
"""


def run(options):
    """Run the part; each topic counts as one test."""
    topics = {
        topic.name: tests(topic)
        for topic in options.chosen(series.load(options.pin.release))
        if topic.diff
    }
    script = _PROOFS.format(
        folder=str(paths.SCRIPTS),
        topics=topics,
        expression=options.expression or '',
        last=sorted(durations.known()),
    )
    with paths.temporary(parent=paths.BUILD) as temporary:
        tree = temporary / 'keystone'
        unpatched(options.pin, tree)
        every = dataclasses.replace(options, expression=None)
        return stestr.run(
            every, 'proof', tree, script=script, quick=True
        ).result


def unpatched(pin, tree):
    """Make a tree of the pristine source and the overlay, without hunks."""
    shutil.copytree(assemble.ensure(pin, stock=True), tree)
    for topic in series.load(pin.release):
        for name in topic.adds:
            assemble.add(tree, topic, name, paths.ROOT)
    assemble.write_metadata(tree, pin.version)


def tests(topic):
    """Names of a topic's modules of tests, the fast ones first."""
    modules = [
        name.removesuffix('.py').replace('/', '.')
        for name in topic.adds
        if name.startswith(FOLDER)
        and pathlib.PurePath(name).match('test_*.py')
    ]
    return sorted(modules, key=lambda name: ('.performance.' in name, name))
