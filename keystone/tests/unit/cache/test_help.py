# SPDX-License-Identifier: Apache-2.0

from keystone.conf import opts
from keystone.tests import unit


class HelpTests(unit.BaseTestCase):
    def test_each_cache_time_tells_how_long_outdated_values_are_used(self):
        found = []
        for section, options in opts.list_opts():
            for option in options:
                if option.name != 'cache_time':
                    continue
                # Tokens are not cached, and credentials by another topic.
                if section in ('credential', 'token'):
                    continue
                found.append(section)
                told = ' '.join(option.help.split())
                self.assertIn('the longest time that', told, section)
                self.assertEqual(
                    option.default is None,
                    'Defaults to `[cache] expiration_time`.' in told,
                    section,
                )
        self.assertLess(8, len(found))
