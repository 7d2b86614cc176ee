# SPDX-License-Identifier: Apache-2.0

"""Verify that each topic's tests fail without its patch.

A test that passes on stock proves nothing. Here, the topics' tests run on
a tree that has all overlay files and none of the hunks: of each topic that
changes upstream files, at least one test must fail there. The first one
that does is enough.
"""

import pathlib
import shutil
import tempfile

from patchset import egg_info
from patchset import paths
from patchset import progress
from patchset import series
from patchset import trees
from patchset.testing import results
from patchset.testing import stestr

PACKAGES = ('test',)
FOLDERS = ('keystone/tests/unit/', 'keystone/tests/performance/')


def run(options):
    """Run the part; each topic counts as one test."""
    topics = [
        topic
        for topic in options.chosen(series.load(options.pin.release))
        if topic.diff
    ]
    with tempfile.TemporaryDirectory(dir=paths.BUILD) as temporary:
        tree = pathlib.Path(temporary) / 'keystone'
        unpatched(options.pin, tree)
        report = stestr.run(
            options, 'proof', tree,
            sets={topic.name: tests(topic) for topic in topics},
            quiet=True,
            quick=True,
        )  # fmt: skip
    total = results.Result()
    for topic in topics:
        total += judge(topic, report, bool(options.expression))
    return total


def unpatched(pin, tree):
    """Make a tree of the pristine source and the overlay, without hunks."""
    shutil.copytree(trees.get(pin, stock=True), tree)
    for topic in series.load(pin.release):
        for name in topic.adds:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(paths.ROOT / name, tree / name)
    egg_info.write(tree, pin.version)


def tests(topic):
    """Names of a topic's modules of tests: first those of unit tests."""
    modules = [
        name.removesuffix('.py').replace('/', '.')
        for name in topic.adds
        if name.startswith(FOLDERS)
        and pathlib.PurePath(name).match('test_*.py')
    ]
    return sorted(modules, reverse=True)


def judge(topic, report, narrowed):
    """Whether a test of the topic failed: one passed, or one failed.

    :param narrowed: whether an expression may have left the topic out
    """
    modules = tuple(f'{name}.' for name in tests(topic))
    failed = sorted(name for name in report.failed if name.startswith(modules))
    passed = sum(name.startswith(modules) for name in report.passed)
    if failed:
        progress.say(f'{topic.name}: fails without it: {failed[0]}')
        return results.Result(passed=1)
    if narrowed and not passed:
        return results.Result()
    progress.say(
        f'FAILED {topic.name}\n{passed} tests of it pass on stock code, and '
        f'none fails\n'
    )
    return results.Result(failed=1)
