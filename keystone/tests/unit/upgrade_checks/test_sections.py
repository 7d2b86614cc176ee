# SPDX-License-Identifier: Apache-2.0

from oslo_config import cfg

from keystone.cmd import upgrade_checks
from keystone.common import after_fork
from keystone.tests.unit.ksfixtures import shared_cache
from keystone.tests.unit.validation_cache import base


class SectionsTests(base.ValidationCacheTestCase):
    """Sections without whose caching no validation result is kept."""

    def is_kept(self, section, **option):
        subject, conf = self.get_scoped_token(), self.config_fixture.conf
        before = {name: conf[section][name] for name in option}
        self.config_fixture.config(group=section, **option)
        shared_cache.SharedMemory.values.clear()
        # As if the process had been restarted.
        after_fork.run()
        self.ask(subject)
        hits = self.cache.counts['hit']
        self.ask(subject)
        self.config_fixture.config(group=section, **before)
        return self.cache.counts['hit'] == hits + 2

    def test_each_section(self):
        conf = self.config_fixture.conf
        tested = 0
        for section in conf:
            if not isinstance(conf[section], cfg.ConfigOpts.GroupAttr):
                continue
            for option, value in (('caching', False), ('cache_time', 0)):
                if option not in conf[section]:
                    continue
                tested += 1
                needed = section in upgrade_checks._OF_VALIDATIONS
                # It has no other effect than that of the others' lifetimes.
                if (section, option) == ('token', 'cache_time'):
                    needed = False
                self.assertEqual(
                    not needed,
                    self.is_kept(section, **{option: value}),
                    (section, option),
                )
        self.assertLess(15, tested)
