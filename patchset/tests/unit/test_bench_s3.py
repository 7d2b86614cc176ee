# SPDX-License-Identifier: Apache-2.0

"""Tests of the measurement of signed requests."""

import base64

import testtools

from bench import runs
from bench import s3
from bench import signing


def _run(rate, **more):
    return {'rate': rate, 'p50': 10, 'p99': 20, **more}


class S3TestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        rates = {'stock': [100, 50, 10], 'patched': [300, 160, 20]}
        found = runs.Runs('kind')
        for kind in s3.KINDS:
            found.measured[kind,] = {
                side: [_run(rate) for rate in values]
                for side, values in rates.items()
            }
        self.points = s3.points(found)

    def test_each_side_against_stock_of_the_same_round(self):
        point = self.points[0]
        self.assertEqual('s3tokens', point['kind'])
        self.assertEqual(1, point['stock']['of_stock'])
        self.assertEqual(3, point['patched']['of_stock'])
        self.assertEqual([2, 3.2], point['patched']['of_stock_spread'])
        self.assertEqual(160, point['patched']['rate'])

    def test_text(self):
        lines = s3.text(self.points).splitlines()
        self.assertEqual(8, len(lines))
        self.assertRegex(
            lines[3],
            r'^s3tokens +patched +160.0 +300.0 % +200.0\.\.320.0 .* 3$',
        )


class SigningTestCase(testtools.TestCase):
    def credentials(self, sign, secret='secret'):
        return sign('access', secret)['credentials']

    def test_what_is_signed_for_s3(self):
        signed = self.credentials(signing.s3)
        lines = base64.urlsafe_b64decode(signed['token']).split(b'\n')
        self.assertEqual(4, len(lines))
        self.assertEqual(b'aws4_request', lines[2].split(b'/')[3])
        self.assertEqual('access', signed['access'])

    def test_the_secret_makes_the_signature(self):
        for sign in (signing.s3, signing.ec2):
            one, same, other = (
                self.credentials(sign, secret)['signature']
                for secret in ('secret', 'secret', 'other')
            )
            self.assertEqual(one, same)
            self.assertNotEqual(one, other)

    def test_a_signature_of_version_2(self):
        # Made by keystoneclient's Ec2Signer.
        self.assertEqual(
            'SFdefD4BhkYsIM11blyNXDiIUlkEYHUsbQD31ANZ68Q=',
            self.credentials(signing.ec2)['signature'],
        )
