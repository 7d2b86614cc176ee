# SPDX-License-Identifier: Apache-2.0

"""Tests of the measurement of S3 through RadosGW."""

import os
import types

import fixtures
import testtools

from bench import gateways
from bench import radosgw
from bench import runs

_TOKENS = '/v3/auth/tokens'


class _User(str):
    """An account with the id of its user."""

    @property
    def credentials(self):
        return {'OS_USER_ID': str(self), 'OS_PROJECT_ID': 'project'}


def _run(rate, **more):
    run = {'rate': rate, 'p50': 1, 'p95': 2, 'p99': 3, 'requests': rate}
    return {**run, **more}


class PointsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        found = runs.Runs('kind', 'cache')
        found.measured['get', 'off'] = {
            'stock': [_run(10, cpu=40), _run(20, cpu=50)],
            'patched': [_run(40, cpu=8), _run(60, cpu=10)],
        }
        found.measured['validations', 'off'] = {
            'stock': [_run(20, alone=_run(100), s3=9)],
            'patched': [_run(800, alone=_run(1000), s3=30)],
        }
        self.points = radosgw.points(found)

    def test_ratio_is_that_of_the_rounds(self):
        get, _ = self.points
        self.assertEqual(('get', 'off'), (get['kind'], get['cache']))
        self.assertEqual((3.5, [3, 4]), (get['ratio'], get['ratio_spread']))
        self.assertEqual((45, 9), (get['stock']['cpu'], get['patched']['cpu']))
        self.assertEqual(2, get['patched']['p95'])

    def test_validations_are_compared_with_those_alone(self):
        _, validations = self.points
        self.assertEqual(0.2, validations['stock']['of_alone'])
        self.assertEqual(0.8, validations['patched']['of_alone'])
        self.assertEqual(40, validations['ratio'])

    def test_text(self):
        lines = radosgw.text(self.points).splitlines()
        self.assertEqual(6, len(lines))
        self.assertRegex(
            lines[3], r'^get +off +patched +50.0 +3.50 .* 9.0 +- +-'
        )
        self.assertRegex(lines[5], r'^validations +off .* - +30.0 +80.0 % +1$')


class ProcessorTestCase(testtools.TestCase):
    def test_used(self):
        tick = os.sysconf('SC_CLK_TCK')
        fields = ['S', *['1'] * 10, str(2 * tick), str(3 * tick), '7']
        text = f'12 (a (program) 9) {" ".join(fields)}'
        self.assertEqual(5, radosgw.cpu_seconds(text))

    def test_workers_are_the_children(self):
        keystone = types.SimpleNamespace(pid=os.getpid())
        self.assertGreaterEqual(radosgw.worker_cpu_seconds(keystone), 0)


class OptionsTestCase(testtools.TestCase):
    def test_where_keystone_is(self):
        credentials = {
            'OS_USERNAME': 'admin',
            'OS_PASSWORD': 'secret',
            'OS_USER_DOMAIN_NAME': 'Default',
            'OS_PROJECT_NAME': 'admin',
        }
        keystone = types.SimpleNamespace(
            url='http://127.0.0.1:5000/v3', credentials=credentials
        )
        found = gateways.options(keystone, 0)
        self.assertEqual('http://127.0.0.1:5000', found['rgw_keystone_url'])
        self.assertEqual('secret', found['rgw_keystone_admin_password'])
        self.assertEqual(0, found['rgw_keystone_token_cache_size'])


class KeysTestCase(testtools.TestCase):
    def test_one_login_for_each_user(self):
        logins = []

        def create(account, token, path, body):
            self.assertEqual(f'token of {account}', token)
            return {'access': account, 'secret': path}

        for name, function in (
            ('token', lambda one: logins.append(one) or f'token of {one}'),
            ('create', create),
        ):
            self.useFixture(
                fixtures.MockPatchObject(gateways.client, name, function)
            )
        users = [_User('one'), _User('other')]
        side = types.SimpleNamespace(name='stock')
        server = types.SimpleNamespace(url='http://127.0.0.1:1')
        gateway = gateways.Gateway(side, 'off', False, server, None, users)

        keys = gateway.create_keys(5)

        self.assertEqual(['one', 'other'] * 2 + ['one'], [k for k, _ in keys])
        self.assertEqual('/users/other/credentials/OS-EC2', keys[1][1])
        self.assertEqual(users, logins)


class KeystoneRequestsTestCase(testtools.TestCase):
    def gateway(self, has_cache):
        self.useFixture(
            fixtures.MockPatchObject(
                gateways.client,
                'tokens',
                lambda _, count: [f'token {one}' for one in range(count)],
            )
        )
        self.useFixture(
            fixtures.MockPatchObject(
                gateways.client, 'login_body', lambda _: '{}'
            )
        )
        users = [_User('one'), _User('other')]
        side = types.SimpleNamespace(name='stock', keystone=None)
        server = types.SimpleNamespace(url='http://127.0.0.1:1')
        gateway = gateways.Gateway(side, 'x', has_cache, server, None, users)
        self.useFixture(
            fixtures.MockPatchObject(
                gateway, 'create_keys', lambda count: [('key', 's')] * count
            )
        )
        self.useFixture(
            fixtures.MockPatchObject(gateway, 'sign', lambda *_, **__: {})
        )
        gateway.prepare([], 3, 0)
        return gateway

    def test_off_has_a_token_issued_for_each(self):
        requests = self.gateway(False).keystone_requests(3)
        self.assertEqual(12, len(requests))
        self.assertEqual(6, requests.count(('', '', '{}', 'POST', _TOKENS)))
        callers = {one[0] for one in requests if one[0]}
        self.assertEqual(6, len(callers))

    def test_one_uses_the_same_token(self):
        requests = self.gateway(True).keystone_requests(3)
        self.assertEqual(['token 0'] * 6, [one[0] for one in requests])
        self.assertEqual(
            [
                ('POST', '/v3/s3tokens'),
                ('GET', '/v3/users/one/credentials/OS-EC2/key'),
                ('POST', '/v3/s3tokens'),
                ('GET', '/v3/users/other/credentials/OS-EC2/key'),
            ],
            [one[3:] for one in requests[:4]],
        )
        self.assertIn('"signature"', requests[0][2])
