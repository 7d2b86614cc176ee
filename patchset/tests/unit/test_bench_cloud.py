# SPDX-License-Identifier: Apache-2.0

"""Tests of measuring an existing Keystone, and with whose account."""

import testtools

from bench import client
from bench import cloud
from bench import experiments
from bench import mixed
from bench import runner
from bench import tokens
from patchset import errors
from patchset.tests.unit import test_commands

_OPENRC = {
    'OS_USERNAME': 'admin',
    'OS_PASSWORD': 'secret',
    'OS_USER_DOMAIN_NAME': 'Default',
    'OS_PROJECT_NAME': 'admin',
    'OS_PROJECT_DOMAIN_ID': 'default',
}


class CredentialsTestCase(testtools.TestCase):
    def test_names_and_their_domains(self):
        auth = client.login(_OPENRC)['auth']
        self.assertEqual(
            {
                'name': 'admin',
                'domain': {'name': 'Default'},
                'password': 'secret',
            },
            auth['identity']['password']['user'],
        )
        self.assertEqual(
            {'project': {'name': 'admin', 'domain': {'id': 'default'}}},
            auth['scope'],
        )

    def test_ids_need_no_domain(self):
        auth = client.login(
            {'OS_USER_ID': 'u', 'OS_PASSWORD': 's', 'OS_PROJECT_ID': 'p'}
        )['auth']
        user = auth['identity']['password']['user']
        self.assertEqual({'id': 'u', 'password': 's'}, user)
        self.assertEqual({'project': {'id': 'p'}}, auth['scope'])

    def test_the_system(self):
        auth = client.login({**_OPENRC, 'OS_SYSTEM_SCOPE': 'all'})['auth']
        self.assertEqual({'system': {'all': True}}, auth['scope'])

    def test_a_trust(self):
        auth = client.login({**_OPENRC, 'OS_TRUST_ID': 't'})['auth']
        self.assertEqual({'OS-TRUST:trust': {'id': 't'}}, auth['scope'])

    def test_what_is_missing(self):
        for name in _OPENRC:
            if name == 'OS_PROJECT_DOMAIN_ID':
                missing = 'OS_PROJECT_DOMAIN_NAME'
            else:
                missing = name
            error = self.assertRaises(
                errors.UsageError, client.login, {**_OPENRC, name: ''}
            )
            self.assertIn(f'{missing} is not set', str(error))

    def test_other_ways_than_a_password(self):
        error = self.assertRaises(
            errors.UsageError,
            client.login,
            {**_OPENRC, 'OS_AUTH_TYPE': 'v3token'},
        )
        self.assertIn('OS_AUTH_TYPE is v3token', str(error))


class AddressTestCase(testtools.TestCase):
    def test_with_and_without_the_version(self):
        for given in ('http://h:5000', 'http://h:5000/', 'http://h:5000/v3/'):
            self.assertEqual('http://h:5000/v3', cloud.normalise(given))
        self.assertEqual(
            'https://h/identity/v3', cloud.normalise('https://h/identity')
        )

    def test_no_address(self):
        for given in ('h:5000', 'http://', 'ftp://h/v3', ''):
            self.assertRaises(errors.UsageError, cloud.normalise, given)

    def test_the_password_is_not_shown(self):
        self.assertNotIn('secret', repr(cloud.Account('http://h', _OPENRC)))


class CommandTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.patch(runner.os, 'environ', {**runner.os.environ, **_OPENRC})

    def run_bench(self, *words):
        return test_commands.run(
            'bench', *words, '--against', 'http://127.0.0.1:1'
        )

    def test_those_that_need_more_than_the_api(self):
        self.assertEqual(
            ['mixed', 'revocations', 'tokens'], sorted(experiments.of_api())
        )
        for name in {*experiments.ALL, 'all', 'report'}.difference(
            experiments.of_api()
        ):
            code, text = self.run_bench(name)
            self.assertEqual(2, code)
            self.assertIn('--against requires ', text)

    def test_options_that_it_cannot_heed(self):
        for words in (['--no-token-caching'], ['--database', 'postgresql']):
            code, text = self.run_bench('tokens', *words)
            self.assertEqual(2, code)
            self.assertIn('cannot be used with --against', text)

    def test_it_says_what_it_makes_and_asks(self):
        code, text = self.run_bench('mixed')
        self.assertEqual(2, code)
        issued, revoked = mixed.footprint('small')
        self.assertIn(f'{issued:,} tokens of that user', text)
        self.assertIn(f'events for each of {revoked:,} tokens', text)
        self.assertIn('confirm with --yes', text)

    def test_nothing_is_revoked_for_tokens(self):
        _, text = self.run_bench('tokens')
        issued, _ = tokens.footprint('small')
        self.assertEqual(2 * (50 + 250) + 2 * 4, issued)
        self.assertIn(f'{issued:,} tokens of that user', text)
        self.assertNotIn('revocation events', text)

    def test_no_openrc(self):
        del runner.os.environ['OS_PASSWORD']
        code, text = self.run_bench('tokens', '--yes')
        self.assertEqual(2, code)
        self.assertIn('OS_PASSWORD is not set', text)
        self.assertNotIn('is made there', text)
