# SPDX-License-Identifier: Apache-2.0

"""Verify that each commit of the series is self-contained.

A reviewer takes the topics one at a time. After each of them, the topic's
own tests and upstream's tests of the changed areas must pass.
"""

import pathlib
import tempfile

from patchset import assemble
from patchset import egg_info
from patchset import environment
from patchset import errors
from patchset import git
from patchset import paths
from patchset import progress
from patchset import series
from patchset import trees
from patchset.testing import areas
from patchset.testing import proof
from patchset.testing import results
from patchset.testing import stestr

PACKAGES = ('test',)  # profiles of bindep.txt


def run(options):
    """Run the part.

    :param options: a :class:`patchset.testing.options.Options`
    :returns: a :class:`patchset.testing.results.Result`
    """
    if options.stock:
        raise errors.UsageError('commits: the stock tree is one commit')
    venv = environment.Environment(options.pin.release, 'test').ensure()
    topics = series.load(options.pin.release)
    chosen = options.chosen(topics)
    total = results.Result()
    with tempfile.TemporaryDirectory(dir=paths.BUILD) as temporary:
        tree = pathlib.Path(temporary) / 'keystone'
        whole = trees.get(options.pin)
        git.git(whole, 'clone', '--quiet', '--shared', whole, tree)
        between = f'{assemble.BASE}..HEAD'
        commits = git.git(tree, 'rev-list', '--reverse', between).split()
        names = [topic.name for topic in topics]
        commit_of = dict(zip(names, commits, strict=True))
        for number, topic in enumerate(chosen, 1):
            git.git(tree, 'checkout', '--quiet', commit_of[topic.name])
            egg_info.write(tree, options.pin.local_version)
            suite = stestr.Suite(
                options.label('commits'), venv, tree,
                modules=[*areas.modules(tree), *proof.tests(topic)],
                quick=True,
            )  # fmt: skip
            report = suite.run(
                options.expression, concurrency=options.concurrency
            )
            total += report.result
            progress.say(
                f'{number} of {len(chosen)}: {topic.name}: {report.result}'
            )
    return total
