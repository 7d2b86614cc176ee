# SPDX-License-Identifier: Apache-2.0

"""Style checks of every file in the repository.

The overlay is held to the rules of the newest upstream release that it joins,
read from that release's own source; the rest to ``ruff.toml``. The checks of
upstream's gate, which find nothing in stock, run on the patched tree.
"""

import functools
import re

from patchset import assemble
from patchset import child
from patchset import environment
from patchset import paths
from patchset import pins
from patchset import upstream
from patchset.test_parts import checks
from patchset.test_parts import sources

PACKAGES = ()
LICENCE = '# SPDX-License-Identifier: Apache-2.0'
_WHITESPACE = 'blank-at-eol,blank-at-eof,space-before-tab'
WIDTH = 72  # of a commit message, as OpenStack asks

# A trailer with one word, or a line that is nothing but a reference.
_UNBREAKABLE = re.compile(r'([A-Z][A-Za-z-]+: |\[[0-9]+\] )?\S+')


def run(options):
    """Run every check whose name the expression matches."""
    # The files are the same for all releases, and so are their rules.
    newest = pins.load(pins.newest())
    where = environment.Environment(newest.release, 'lint').ensure()
    rules = upstream.ensure(newest)
    found = {
        **plan(sources.files(), where.bin, rules),
        **hooks(where.bin, assemble.ensure(newest)),
    }
    return checks.run(found, options.expression)


def plan(files, programs, rules, root=paths.ROOT):
    """The checks that some files of the repository need.

    :param files: paths below ``root``
    :param programs: folder of the lint programs
    :param rules: folder of the pristine upstream source
    :returns: {name: check}; a check that would have no file to look at is
        left out
    """
    scripts = sources.python(files)
    overlay = [
        path for path in scripts if path.is_relative_to(root / 'keystone')
    ]
    own = [path for path in scripts if path not in overlay]
    shell = sources.shell(files, root)
    pages = [path for path in files if path.suffix == '.rst']
    patches = [path for path in files if path.suffix == '.patch']
    found = {
        name: checks.program([*command, *named], cwd=root)
        for name, command, named in _commands(
            programs, rules, own, overlay, shell, pages
        )
        if named
    }
    for name, find, named in (
        ('licence', without_licence, [*scripts, *shell]),
        ('whitespace', stray_whitespace, [*{*files} - {*patches}]),
    ):
        if named:
            found[name] = functools.partial(find, sorted(named), root)
    return {**found, **forms(patches, root)}


def _commands(programs, rules, own, overlay, shell, pages):
    """The programs that check files: name, command and files of each."""
    ruff = programs / 'ruff'
    flavour = ('--config', rules / 'ruff.toml')
    return (
        ('ruff check', (ruff, 'check', '--quiet'), own),
        ('ruff format', (ruff, 'format', '--diff', '--quiet'), own),
        (
            'overlay: ruff check',
            (ruff, 'check', '--quiet', *flavour, '--extend-select', 'B,E,F,W'),
            overlay,
        ),
        (
            'overlay: ruff format',
            (ruff, 'format', '--diff', '--quiet', *flavour),
            overlay,
        ),
        (
            'overlay: hacking',
            (programs / 'flake8', '--config', rules / 'tox.ini'),
            overlay,
        ),
        ('shellcheck', (programs / 'shellcheck', '--external-sources'), shell),
        ('bashate', (programs / 'bashate', '--error', 'E005,E006'), shell),
        ('doc8', (programs / 'doc8', '--quiet'), pages),
    )


def hooks(programs, tree):
    """The Python hooks of upstream's ``.pre-commit-config.yaml``.

    :param programs: folder of the lint programs
    :param tree: folder of the patched tree
    :returns: {name: check}
    """
    scripts = [
        path.relative_to(tree)
        for folder in ('examples', 'httpd', 'keystone', 'tools')
        for path in sorted((tree / folder).rglob('*.py'))
    ]
    commands = {
        'ruff check': ('ruff', 'check', '--quiet'),
        'ruff format': ('ruff', 'format', '--diff', '--quiet'),
        'hacking': ('flake8', 'keystone'),
        'bandit': (
            'bandit', '--quiet', '--configfile', 'pyproject.toml',
            '--recursive', 'keystone',
        ),
        'mypy': (
            'mypy', '--ignore-missing-imports', '--scripts-are-modules',
            '--cache-dir', '/dev/null', *scripts,
        ),
    }  # fmt: skip
    return {
        f'upstream: {name}': checks.program(
            [programs / program, *words], cwd=tree
        )
        for name, (program, *words) in commands.items()
    }


def forms(patches, root=paths.ROOT):
    """The checks of some patches' form, one each.

    :param patches: paths below ``root``
    :returns: {name: check}
    """
    return {
        path.relative_to(root).as_posix(): functools.partial(
            patch_faults, path
        )
        for path in patches
    }


def without_licence(files, root):
    """Name the files with content that lack the licence's header."""
    return '\n'.join(
        f'{path.relative_to(root)}: no licence header'
        for path in files
        if path.stat().st_size and LICENCE not in path.read_text()[:400]
    )


def stray_whitespace(files, root):
    """What git finds wrong with the ends of lines and of files.

    Conflict markers that were left behind count as well.
    """
    found = []
    for path in files:
        done = child.finish(
            [
                'git', '-c', f'core.whitespace={_WHITESPACE}', 'diff',
                '--no-index', '--check', '/dev/null', path.relative_to(root),
            ],
            cwd=root,
        )  # fmt: skip
        lines = done.stdout.splitlines()
        found += [line for line in lines if not line.startswith('+')]
    return '\n'.join(found)


def patch_faults(path):
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
    with paths.temporary() as folder:
        message = folder / 'message'
        done = child.finish(
            ['git', 'mailinfo', message, folder / 'diff'], stdin=text
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
    done = child.finish(['git', 'apply', '--numstat', path])
    return [done.stderr.strip()] if done.returncode else []
