# SPDX-License-Identifier: Apache-2.0

"""All identity tests of tempest and keystone-tempest-plugin.

They run against the Keystone of :mod:`patchset.test_parts.cloud`. A test that
passes on stock must pass on the patched tree.
"""

import configparser
import shutil

from patchset import environment
from patchset import keystone_conf
from patchset import paths
from patchset.test_parts import baseline
from patchset.test_parts import cloud
from patchset.test_parts import results
from patchset.test_parts import stestr

PACKAGES = ('integration',)
EXPRESSION = r'^(tempest\.api\.identity|keystone_tempest_plugin)\.'
PLUGIN = 'revcache_tempest_plugin'
# A token shows the service providers of the moment; other tests create some.
_COMPARE_TOKENS = r'\.test_tokens\.TokensV3Test\.'
PATIENCE = 300  # seconds; far more than a loaded machine needs


def run_suite(
    options, part, expression, *, plugin=None, settings=None, quiet=False
):
    """Run tempest, with its plugins, against a Keystone started for it.

    :param options: a :class:`patchset.test_parts.Options`
    :param part: the part that it runs for
    :param expression: regular expression that test ids must match
    :param plugin: whether our own plugin is there; by default, on the patched
        tree alone
    :param settings: {section: {option: value}} of tempest.conf
    :param quiet: do not print the failures, which are expected
    :returns: a :class:`patchset.test_parts.results.Report`
    """
    with paths.temporary('ks-tempest-') as folder:
        file = folder / 'tempest.conf'
        file.touch(mode=0o600)
        if not options.stock if plugin is None else plugin:
            install_plugin(folder)
        suite = _suite(options, part, folder, quiet)
        ids = suite.ids(expression)
        if not ids:
            return results.Report()
        with cloud.start(options) as keystone:
            file.write_text(configuration(keystone, folder, settings))
            return suite.run(
                concurrency=options.concurrency, ids=ids, listed=True
            )


def _suite(options, part, folder, quiet):
    venv = environment.Environment(options.pin.release, 'tempest').ensure()
    packages = next(venv.path.glob('lib/python*/site-packages'))
    return stestr.Suite(
        options.label(part), venv, folder,
        folder=packages / 'tempest' / 'test_discover', top=packages,
        variables={
            'TEMPEST_CONFIG_DIR': str(folder),
            'TEMPEST_CONFIG': 'tempest.conf',
            'XDG_CACHE_HOME': str(folder),  # of the entry points found
            'no_proxy': '127.0.0.1',
        },
        group=stestr.BY_CLASS, alone=_COMPARE_TOKENS, quiet=quiet,
    )  # fmt: skip


def configuration(deployment, folder, settings=None):
    """Text of tempest.conf.

    :param deployment: a started :class:`patchset.deployment.Deployment`
    :param folder: where tempest may keep its lock files and its log
    :param settings: {section: {option: value}} on top of that
    """
    example = configparser.ConfigParser(interpolation=None)
    example.read(paths.ROOT / 'contrib' / 'tempest' / 'tempest.conf')
    own = {
        'auth': {'admin_password': deployment.password},
        'identity': {'uri_v3': deployment.url},
        'service-clients': {'http_timeout': PATIENCE},
        'oslo_concurrency': {'lock_path': folder},
        'DEFAULT': {'log_dir': folder, 'log_file': 'tempest.log'},
    }
    return keystone_conf.render(keystone_conf.merge(example, own, settings))


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
    expression = stestr.both(EXPRESSION, options.expression)
    report = run_suite(options, 'tempest', expression)

    def on_stock(stock, tests):
        return run_suite(stock, 'tempest', stestr.exactly(tests))

    return baseline.judge(options, 'tempest', report, on_stock)
