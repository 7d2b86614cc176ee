# SPDX-License-Identifier: Apache-2.0

"""The form of a patch file, apart from whether it applies."""

import pathlib
import re
import tempfile

from patchset import process

WIDTH = 72  # of a commit message, as OpenStack asks

# A trailer with one word, or a line that is nothing but a reference.
_UNBREAKABLE = re.compile(r'([A-Z][A-Za-z-]+: |\[[0-9]+\] )?\S+')


def find(path):
    """Say what is wrong with a patch file, as text; empty when nothing is.

    Git itself must be able to read both the mail and the diff in it.
    """
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        return f'not UTF-8: {error}'
    found = []
    if '\r' in text:
        found.append('carriage returns')
    if not text.endswith('\n') or text.endswith('\n\n'):
        found.append('does not end with exactly one newline')
    if '\n-- \n' in text:
        found.append('ends with a mail signature')
    for number, line in enumerate(text.splitlines(), 1):
        if line[:1] == '+' and line != line.rstrip():
            found.append(f'line {number}: adds trailing whitespace')
    return '\n'.join([*found, *_mail(text), *_diff(path, text)])


def _mail(text):
    """Read the patch as ``git am`` does."""
    with tempfile.TemporaryDirectory() as folder:
        message = pathlib.Path(folder) / 'message'
        done = process.finish(
            ['git', 'mailinfo', message, f'{folder}/diff'], stdin=text
        )
        if done.returncode:
            return [f'git mailinfo: {done.stderr.strip()}']
        lines = message.read_text().splitlines()
    found = [
        f'no {field} in the header'
        for field in ('Author', 'Email', 'Subject', 'Date')
        if f'\n{field}: ' not in f'\n{done.stdout}'
    ]
    return found + [
        f'message line wider than {WIDTH}: {line}'
        for line in lines
        if len(line) > WIDTH and not _UNBREAKABLE.fullmatch(line)
    ]


def _diff(path, text):
    """Parse the hunks as ``git apply`` does."""
    if '\ndiff --git ' not in text:
        return []  # a topic made of overlay files alone
    done = process.finish(['git', 'apply', '--numstat', path])
    return [done.stderr.strip()] if done.returncode else []
