# SPDX-License-Identifier: Apache-2.0

from oslo_upgradecheck import upgradecheck

from keystone.cmd import upgrade_checks
from keystone.tests.unit.cache import memcached_server
from keystone.tests.unit.upgrade_checks import base

SUCCESS = upgradecheck.Code.SUCCESS
WARNING = upgradecheck.Code.WARNING
FAILURE = upgradecheck.Code.FAILURE

CACHE = 'Shared cache'
LIFETIMES = 'Lifetimes of cached values'
EVENTS = 'Revocation events'
ANSWERS = 'Validation cache'
SWITCHES = 'Disabled features'
KEYS = 'Fernet keys'


class SettingsTests(base.StatusTestCase):
    """What the command says of settings that defeat the patch set."""

    def setUp(self):
        super().setUp()
        self.memcached = self.useFixture(memcached_server.MemcachedServer())
        self.cache = {
            'enabled': True,
            'backend': 'dogpile.cache.memcached',
            'memcache_servers': self.memcached.address,
        }

    def check(self, **options):
        """The results of the checks of this patch set, by name.

        The cache is the memcached, where ``cache`` does not say otherwise.
        """
        options['cache'] = {**self.cache, **options.get('cache', {})}
        code, results = self.run_checks(options)
        # The worst of all, upstream's among them, is the exit code.
        self.assertEqual(max(code for code, _ in results.values()), code)
        return {name: results[name] for name, _ in upgrade_checks.CHECKS}

    def assertFound(self, results, name, code, *texts):
        self.assertEqual(code, results[name][0], results[name])
        for text in texts:
            self.assertIn(text, results[name][1])

    def assertFine(self, results, *names):
        for name in names:
            self.assertFound(results, name, SUCCESS)

    def test_as_recommended(self):
        results = self.check()
        self.assertEqual(
            [CACHE, LIFETIMES, EVENTS, ANSWERS, SWITCHES, KEYS], list(results)
        )
        self.assertFine(results, *results)
        self.assertIn('set', self.memcached.commands)
        # What was put there is gone; the check of keys keeps something.
        self.assertNotIn('keystone-status', str(self.memcached.items))

    def test_cache_is_off(self):
        # As upstream has it.
        results = self.check(cache={'enabled': False}, token={'cache_time': 0})
        self.assertFound(results, CACHE, WARNING, 'Nothing is cached')
        self.assertFine(results, LIFETIMES, ANSWERS)
        self.assertEqual([], self.memcached.commands)

    def test_cache_of_one_process(self):
        results = self.check(
            cache={'backend': 'oslo_cache.dict'}, revoke={'sync_interval': 100}
        )
        self.assertFound(results, CACHE, WARNING, 'oslo_cache.dict')
        self.assertFine(results, EVENTS, ANSWERS)

    def test_server_that_is_gone(self):
        self.memcached.stop()
        self.assertBroken(self.check(revoke={'sync_interval': 23}))

    def test_one_server_of_several_that_is_gone(self):
        other = self.useFixture(memcached_server.MemcachedServer())
        other.stop()
        servers = f'{self.memcached.address},{other.address}'
        results = self.check(cache={'memcache_servers': servers})
        self.assertFound(results, CACHE, WARNING, f': {other.address}.')
        self.assertFine(results, EVENTS, ANSWERS)

    def test_server_that_takes_nothing(self):
        self.memcached.takes = False
        self.assertBroken(self.check(revoke={'sync_interval': 23}))

    def assertBroken(self, results):
        """No check builds on a cache that another one has found broken."""
        for name in (CACHE, EVENTS):
            self.assertFound(results, name, FAILURE, 'does not return')
        self.assertIn('sync_interval, 23 seconds', results[EVENTS][1])
        self.assertNotIn('sync_interval', results[CACHE][1])
        self.assertFound(results, ANSWERS, SUCCESS, 'Not checked')

    def test_lifetimes(self):
        results = self.check(
            cache={'expiration_time': 7200},
            identity={'cache_time': -1},
            role={'cache_time': 0},
            resource={'cache_time': 3600},
            catalog={'caching': False},
            token={'cache_time': 3601},
        )
        self.assertFound(
            results, LIFETIMES, WARNING, '[catalog] caching is off',
            '[cache] expiration_time is 7200', '[identity] cache_time is -1',
            'forever', '[role] cache_time is 0', '[token] cache_time is 3601',
        )  # fmt: skip
        self.assertNotIn('[resource]', results[LIFETIMES][1])
        self.assertFound(
            results, ANSWERS, WARNING,
            'not kept: [role] cache_time is off or 0.',
        )  # fmt: skip

    def test_revocation(self):
        results = self.check(
            revoke={
                'sync_interval': 61,
                'sync_overlap': 9,
                'recount_interval': 0,
                'prune_interval': 0,
            },
            security_compliance={'disable_user_account_days_inactive': 9},
        )
        self.assertFound(
            results, EVENTS, WARNING, 'sync_interval is 61',
            'sync_overlap is 9', 'recount_interval is 0',
            'prune_interval is 0',
        )  # fmt: skip
        self.assertFine(results, CACHE, ANSWERS)

    def test_answers(self):
        results = self.check(token={'caching': False}, DEFAULT={'debug': True})
        self.assertFound(
            results, ANSWERS, WARNING, '[token] caching is off', 'debug is on'
        )

    def test_each_section_that_all_answers_need(self):
        results = self.check(federation={'caching': False})
        for name in (LIFETIMES, ANSWERS):
            self.assertFound(
                results, name, WARNING, '[federation] caching is off'
            )

    def test_switches(self):
        results = self.check(
            catalog={'in_process_size': 0},
            revoke={'max_events_in_memory': 0, 'recount_interval': 0},
            token={'validation_cache_size': 0},
        )
        self.assertFound(
            results, SWITCHES, WARNING, '[catalog] in_process_size is 0',
            '[revoke] max_events_in_memory is 0',
            '[token] validation_cache_size is 0',
        )  # fmt: skip
        # What is off is not complained of twice.
        self.assertFine(results, LIFETIMES)
        for name in (EVENTS, ANSWERS):
            self.assertFound(results, name, SUCCESS, 'is disabled')

    def test_results_are_not_kept_without_events_in_memory(self):
        results = self.check(revoke={'max_events_in_memory': 0})
        self.assertFound(results, ANSWERS, SUCCESS, 'is disabled')

    def test_form_for_people(self):
        code, out = self.start(
            {'cache': self.cache, 'catalog': {'in_process_size': 0}}
        )
        self.assertEqual(WARNING, code)
        for name, _ in upgrade_checks.CHECKS:
            self.assertIn(f'Check: {name}', out)
        self.assertEqual(1, out.count('Result: Warning'))
        self.assertIn('in_process_size is 0', out)
