# SPDX-License-Identifier: Apache-2.0

"""Where tempest finds the tests and their options."""

import pathlib

from tempest import config
from tempest.test_discover import plugins

from revcache_tempest_plugin import config as revcache_config


class RevcachePlugin(plugins.TempestPlugin):
    """Tests of what an Identity service promises about its tokens."""

    def load_tests(self):
        """Return the folder of the tests and the one to import from."""
        package = pathlib.Path(__file__).resolve().parent
        return str(package / 'tests'), str(package.parent)

    def register_opts(self, conf):
        """Add the group ``[revcache]`` to tempest's configuration."""
        config.register_opt_group(
            conf, revcache_config.group, revcache_config.options
        )

    def get_opt_lists(self):
        """Return the options for the sample configuration file."""
        return [(revcache_config.group.name, revcache_config.options)]
