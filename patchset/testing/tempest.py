# SPDX-License-Identifier: Apache-2.0

"""All identity tests of tempest and keystone-tempest-plugin.

They run against the Keystone of :mod:`patchset.testing.cloud`. A test that
passes on stock must pass on the patched tree.
"""

import configparser
import pathlib
import re
import shutil
import tempfile

from patchset import environment
from patchset import paths
from patchset.testing import baseline
from patchset.testing import cloud
from patchset.testing import results
from patchset.testing import stestr
from patchset.testing import tempest_conf

PACKAGES = ('live',)  # profiles of bindep.txt
EXPRESSION = r'^(tempest\.api\.identity|keystone_tempest_plugin)\.'
PLUGIN = 'revcache_tempest_plugin'
# Tests of one class share what its set-up made in the cloud.
_GROUP = r'([^\.]*\.)*'


class Tempest:
    """Tempest with its plugins, in a folder of its own.

    :param options: a :class:`patchset.testing.options.Options`
    :param part: the part that it runs for
    :param promises: whether our own plugin is there; unless given, on the
        patched tree alone
    :param settings: {section: {option: value}} of tempest.conf
    :param quiet: do not print the failures, which are expected
    """

    def __init__(
        self, options, part, *, promises=None, settings=None, quiet=False
    ):
        self._options = options
        self._promises = not options.stock if promises is None else promises
        self._settings = settings
        self._quiet = quiet
        name = options.pin.release
        self._environment = environment.Environment(name, 'tempest').ensure()
        self._label = options.label(part)

    def run(self, expression):
        """Start a Keystone and run tests against it.

        :param expression: regular expression that test ids must match
        :returns: the ids, a set, and what came of them, a
            :class:`patchset.testing.results.Report`
        """
        with tempfile.TemporaryDirectory(prefix='ks-tempest-') as folder:
            file = pathlib.Path(folder) / 'tempest.conf'
            file.touch(mode=0o600)
            if self._promises:
                install_plugin(pathlib.Path(folder))
            suite = self._suite(folder)
            ids = suite.ids(expression)
            if not ids:
                return ids, results.Report()
            with cloud.start(self._options) as keystone:
                file.write_text(
                    tempest_conf.render(keystone, folder, self._settings)
                )
                return ids, suite.run(
                    concurrency=self._options.concurrency,
                    ids=ids, listed=True,
                )  # fmt: skip

    def _suite(self, folder):
        packages = next(
            self._environment.path.glob('lib/python*/site-packages')
        )
        return stestr.Suite(
            self._label, self._environment, folder,
            folder=packages / 'tempest' / 'test_discover', top=packages,
            variables={
                'TEMPEST_CONFIG_DIR': folder,
                'TEMPEST_CONFIG': 'tempest.conf',
                'XDG_CACHE_HOME': folder,  # of the entry points found
                'no_proxy': '127.0.0.1',
            },
            group=_GROUP,
            quiet=self._quiet,
        )  # fmt: skip


def install_plugin(folder):
    """Put our own plugin, with its entry point, on a module path.

    A copy: the repository as a whole has a folder ``keystone`` that is
    half of a package.
    """
    shutil.copytree(paths.ROOT / PLUGIN, folder / PLUGIN)
    settings = configparser.ConfigParser()
    settings.read(paths.ROOT / 'setup.cfg')
    entry = settings['entry_points']['tempest.test_plugins']
    metadata = folder / f'{PLUGIN}-0.dist-info'
    metadata.mkdir()
    (metadata / 'METADATA').write_text(
        f'Metadata-Version: 2.1\nName: {PLUGIN}\nVersion: 0\n'
    )
    (metadata / 'entry_points.txt').write_text(
        f'[tempest.test_plugins]\n{entry.strip()}\n'
    )


def run(options):
    """Run the part.

    :param options: a :class:`patchset.testing.options.Options`
    :returns: a :class:`patchset.testing.results.Result`
    """
    expression = stestr.both(EXPRESSION, options.expression)
    ids, report = Tempest(options, 'tempest').run(expression)
    return baseline.judge(options, 'tempest', ids, report, _on_stock)


def _on_stock(stock, tests):
    names = '|'.join(re.escape(test) for test in sorted(tests))
    return Tempest(stock, 'tempest').run(f'^({names})$')[1]
