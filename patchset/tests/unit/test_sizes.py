# SPDX-License-Identifier: Apache-2.0

import ast

import testtools

from patchset import paths

_FOLDERS = ('bench', 'keystone', 'patchset')
# Lines.
_LONGEST_FILE = 300
_LONGEST_FUNCTION = 40


class SizeTestCase(testtools.TestCase):
    """Files, and functions of the tooling, are short enough to read."""

    def test_files_and_functions(self):
        files = [
            file
            for folder in _FOLDERS
            for file in (paths.ROOT / folder).rglob('*.py')
        ]
        self.assertGreater(len(files), 300)
        self.assertEqual([], [one for file in files for one in too_long(file)])


def too_long(file):
    """What is too long in a file: the file, or functions of the tooling."""
    text = file.read_text()
    lines = text.count('\n')
    if lines > _LONGEST_FILE:
        yield f'{file}: {lines} lines'
    if file.is_relative_to(paths.ROOT / 'keystone'):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            lines = node.end_lineno - node.lineno + 1
            if lines > _LONGEST_FUNCTION:
                yield f'{file}: {node.name}: {lines} lines'
