# SPDX-License-Identifier: Apache-2.0

"""Running a test suite with stestr, and reading what comes of it."""

import functools
import heapq
import json
import os
import pathlib
import re
import subprocess

from patchset import assemble
from patchset import child
from patchset import environment
from patchset import errors
from patchset import paths
from patchset import progress
from patchset.test_parts import durations
from patchset.test_parts import results

_READER = pathlib.Path(__file__).parent / 'subunit_lines.py'
# For a group: tests of one class share what its set-up made in the cloud.
BY_CLASS = r'([^\.]*\.)*'
_SLOWEST = 30  # how many tests the log names with their times
# Stands in for a folder of tests.
_NAMED = """\
def load_tests(loader, tests, pattern):
    return loader.loadTestsFromNames({modules})
"""


def both(*expressions):
    """One regular expression for the ids that match all of several.

    :param expressions: each may be None, which every id matches
    :returns: None when nothing narrows
    """
    given = [one for one in expressions if one]
    return ''.join(f'(?=.*(?:{one}))' for one in given) or None


def exactly(tests):
    """A regular expression for the ids of some tests."""
    return f'^({"|".join(map(re.escape, sorted(tests)))})$'


def run(options, part, tree=None, **choice):
    """Run the suite of a part in the release's test environment.

    :param options: a :class:`patchset.test_parts.Options`
    :param tree: by default, the tree that the options choose
    :param choice: further parameters of :class:`Suite`
    :returns: a :class:`patchset.test_parts.results.Report`
    """
    venv = environment.Environment(options.pin.release, 'test').ensure()
    tree = tree or assemble.ensure(options.pin, options.stock)
    suite = Suite(options.label(part), venv, tree, **choice)
    return suite.run(options.expression, concurrency=options.concurrency)


class Suite:
    """Tests of a tree, as the Python of one environment runs them.

    :param label: name of the run, for messages and for its log
    :param venv: :class:`patchset.environment.Environment` with stestr,
        ensured
    :param tree: folder to run in, and first on the module path
    :param folder: folder of the tests, relative to the tree
    :param top: folder that the names of its modules start at, likewise
    :param modules: names of the tests' modules, or of classes in them,
        instead of a folder: other modules are not even imported
    :param script: text of a module that loads the tests, instead
    :param quick: collect garbage less often, for tests that create an
        application each; see ``tree_scripts/quick_tests``
    :param variables: environment variables of the tests
    :param group: regular expression; tests whose ids agree in what it
        matches run in the same process
    :param alone: regular expression; tests that match run last, in one process
    :param quiet: do not print the failures, which are expected
    """

    def __init__(
        self, label, venv, tree, *, folder=None, top='.',
        modules=(), script=None, quick=False, variables=None, group=None,
        alone=None, quiet=False,
    ):  # fmt: skip
        self.label = label
        self.log = paths.BUILD / 'testing' / f'{label}.log'
        self._environment = venv
        self._tree = tree
        self._folder = folder
        self._top = top
        self._script = script or _NAMED.format(modules=sorted(modules))
        self._path = [paths.SCRIPTS / 'quick_tests', tree] if quick else [tree]
        self._variables = variables or {}
        self._group = group
        self._alone = alone
        self._quiet = quiet

    def ids(self, expression=None):
        """Ids of the tests, a set, without running them.

        :param expression: regular expression that the ids must match
        :raises patchset.errors.Error: a test module does not import
        """
        with (
            _temporary() as folder,
            self._log() as log,
            self._start(folder, log, expression, 'list') as listing,
            progress.doing(f'{self.label}: loading the tests'),
        ):
            output = listing.communicate()[0].decode(errors='replace')
            if listing.returncode:
                log.write(output.encode())
                raise self._unloaded()
        return set(output.split())

    def run(self, expression=None, *, concurrency=1, ids=(), listed=False):
        """Run the tests, and say how it goes.

        :param expression: regular expression that the ids must match
        :param concurrency: number of processes to spread the tests over
        :param ids: ids of the tests, where they are known
        :param listed: run no others
        :returns: a :class:`patchset.test_parts.results.Report`
        :raises patchset.errors.Error: the tests could not be loaded
        """
        if not ids:
            ids, listed = self.ids(expression), True
        report = results.Report(frozenset(ids))
        alone = {i for i in ids if self._alone and re.search(self._alone, i)}
        listed = listed or bool(alone)  # an expression would run them twice
        parts = [(report.ids - alone, concurrency), (alone, 1)]
        with self._log() as log:
            for some, processes in filter(all, parts):
                self._run(report, log, expression, processes, some, listed)
        return report

    def _run(self, report, log, expression, concurrency, ids, listed):
        words = ['run', '--subunit', f'--concurrency={concurrency}']
        with (
            _temporary() as folder,
            self._start(
                folder, log, expression, *words, ids=ids, listed=listed
            ) as suite,
            child.start(
                [self._environment.python, '-P', _READER],
                stdin=suite.stdout, stdout=subprocess.PIPE, stderr=log,
            ) as reader,
            progress.doing(functools.partial(self._count, report)),
        ):  # fmt: skip
            suite.stdout.close()  # the reader has it
            times = []
            for line in reader.stdout:
                test = json.loads(line)
                self._take(report, test)
                times.append((test['seconds'], test['id']))
            log.write(_slowest(times).encode())
            if reader.wait():
                raise self._unloaded('the results could not be read')
            if suite.wait() and not report.failed:
                raise self._unloaded()

    def _count(self, report):
        """How far the run is, in words."""
        done = report.result
        return f'{self.label}: {done.total} of {len(report.ids)} tests: {done}'

    def _take(self, report, test):
        kind = report.add(test['id'], test['status'], test['text'])
        if kind == 'failed' and not self._quiet:
            progress.say(f'FAILED {test["id"]}\n{test["text"]}\n')

    def _start(self, temporary, log, expression, *words, ids=(), listed=False):
        durations.make_repository(temporary, ids)
        command = [
            self._environment.bin / 'stestr', f'--repo-url={temporary}',
            *self._selection(temporary), *words,
        ]  # fmt: skip
        if listed:
            named = temporary / 'ids'
            named.write_text('\n'.join(sorted(ids)))
            command.append(f'--load-list={named}')
        if expression:
            command += ['--', expression]
        return child.start(
            command,
            cwd=self._tree,
            env=self._variables_in(temporary),
            stdout=subprocess.PIPE,
            stderr=log,
        )

    def _selection(self, temporary):
        options = [f'--group-regex={self._group}'] if self._group else []
        folder, top = self._folder, self._top
        if not folder:
            folder = top = temporary / 'named'
            folder.mkdir()
            (folder / 'test_named.py').write_text(self._script)
        return [*options, f'--test-path={folder}', f'--top-dir={top}']

    def _variables_in(self, temporary):
        return {
            **child.variables(),
            **self._environment.variables(self._tree),
            'PYTHONPATH': os.pathsep.join(map(str, self._path)),
            'PYTHON': str(self._environment.python),
            # Trees stay as they are: files go elsewhere.
            'HYPOTHESIS_STORAGE_DIRECTORY': str(paths.BUILD / 'hypothesis'),
            'KEYSTONE_TEST_TEMP_DIR': str(temporary),
            'TMPDIR': str(temporary),
            **self._variables,
        }

    def _log(self):
        # A new file, so that a run beside this one keeps its own.
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.unlink(missing_ok=True)
        return open(self.log, 'wb', buffering=0)

    def _unloaded(self, what='the tests could not be loaded'):
        reason = child.last_words(self.log)
        return errors.Error(f'{self.label}: {what}: {reason}; see {self.log}')


def _temporary():
    # As /tmp is: servers that the tests start use it as other users.
    return paths.temporary('ks-test-', mode=0o1777)


def _slowest(times):
    lines = (
        f'{seconds:7.2f} s  {test}\n'
        for seconds, test in heapq.nlargest(_SLOWEST, times)
    )
    return ''.join(['The slowest tests:\n', *lines])
