# SPDX-License-Identifier: Apache-2.0

"""Unit tests of the tooling and of the patch set."""

from patchset import assemble
from patchset import paths
from patchset import progress
from patchset.test_parts import performance
from patchset.test_parts import stestr

PACKAGES = ('test',)
FOLDER = 'keystone/tests/unit'


def run(options):
    tree = assemble.ensure(options.pin)
    stock = assemble.ensure(options.pin, stock=True)
    tooling = stestr.run(
        options, 'unit-tooling', paths.ROOT, folder='patchset/tests/unit'
    ).result
    progress.say(f'unit, tooling: {tooling}')
    counting = performance.FOLDER.replace('/', '.')
    modules = {
        name
        for name in added(tree, stock)
        if not name.startswith(f'{counting}.')
    }
    overlay = stestr.run(
        options, 'unit', tree, modules=modules, quick=True
    ).result
    progress.say(f'unit, overlay: {overlay}')
    return tooling + overlay


def added(tree, stock):
    """Names of the unit-test modules of a tree that stock has not."""
    names = set()
    for path in (tree / FOLDER).rglob('test_*.py'):
        module = path.relative_to(tree)
        if not (stock / module).exists():
            names.add('.'.join(module.with_suffix('').parts))
    return names
