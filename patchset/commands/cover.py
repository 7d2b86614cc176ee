# SPDX-License-Identifier: Apache-2.0

"""Measure the coverage of the unit tests.

Runs the same tests as `./ks test unit` and measures the tooling and the
Keystone modules that the topics add or change. The report is written to
build/cover/.
"""

import os
import shutil

from patchset import assemble
from patchset import child
from patchset import dependencies
from patchset import environment
from patchset import paths
from patchset import pins
from patchset import progress
from patchset import series
from patchset import test_parts
from patchset.test_parts import unit


def add_arguments(parser):
    parser.add_argument(
        'expression',
        nargs='?',
        help='regular expression that selects tests by id',
    )


def run(args):
    """Run the tests, print the shares, and write the report."""
    pin = pins.load(args.release)
    where = environment.Environment(pin.release, 'test').ensure()
    tree = assemble.ensure(pin)
    folder = paths.BUILD / 'cover'
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    settings = folder / 'coveragerc'
    settings.write_text(configuration(folder, measured(pin, tree)))
    # coverage starts in each Python of the environment that sees this.
    os.environ['COVERAGE_PROCESS_START'] = str(settings)
    result = unit.run(test_parts.Options(pin, expression=args.expression))
    del os.environ['COVERAGE_PROCESS_START']
    coverage = [where.bin / 'coverage']
    common = ['--rcfile', settings]
    child.run([*coverage, 'combine', '--quiet', *common, folder])
    child.run([*coverage, 'html', '--quiet', *common, '-d', folder / 'html'])
    progress.say(child.run([*coverage, 'report', *common]))
    progress.say(f'{folder / "html" / "index.html"}')
    progress.say(result)
    return 1 if result.failed else 0


def measured(pin, tree):
    """Patterns of the files whose lines count; tests do not."""
    names = {
        name
        for topic in series.load(pin.release)
        for name in dependencies.modules(topic)
        if '/tests/' not in name
    }
    found = [str(tree / name) for name in sorted(names)]
    return [f'{paths.ROOT / "patchset"}/*', *found]


def configuration(folder, include):
    """Text of coverage's configuration file."""
    lines = '\n    '.join(include)
    return (
        f'[run]\nparallel = true\ndata_file = {folder}/.coverage\n'
        f'include =\n    {lines}\nomit = */patchset/tests/*\n'
        f'[report]\nskip_empty = true\n'
    )
