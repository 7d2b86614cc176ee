# SPDX-License-Identifier: Apache-2.0

"""How the rate of validations falls as tokens are revoked."""

from concurrent import futures
import statistics
import time

from tempest import config
from tempest.lib import decorators
from testtools import content

from revcache_tempest_plugin.tests.api import base

CONF = config.CONF

# Where the curve is looked at, in parts of [revcache] revocations.
POINTS = (0, 0.25, 0.5, 1)


@decorators.serial
class ValidationRateTest(base.PromiseTestCase):
    """A curve, which the requests of other tests would bend."""

    promise = 'validation_rate'

    def setUp(self):
        super().setUp()
        self.place = self.project()
        self.person = self.member(self.place)

    def token(self):
        return self.log_in(self.person, 'a token', project_id=self.place)

    def revoke(self, count):
        """Issue and revoke ``count`` tokens, several at a time."""

        def revoke_one(_number):
            self.identity.delete_token(self.token().id)

        with futures.ThreadPoolExecutor(CONF.revcache.concurrency) as pool:
            list(pool.map(revoke_one, range(count)))

    def rate(self):
        """Validations per second, one after the other.

        Each is the first one of a new token: what is asked again may come
        from a cache, whatever it costs to find out. The lower quartile
        counts, as whatever disturbs a request only makes it slower.
        """
        seconds = []
        for _ in range(CONF.revcache.validations):
            token = self.token()
            start = time.perf_counter()
            valid = self.accepted('GET', token)
            seconds.append(time.perf_counter() - start)
            self.assertTrue(valid)
        return 1 / statistics.quantiles(seconds, n=4)[0]

    @decorators.idempotent_id('4e8a0c6f-b7d1-4925-8f3e-d15b9c7a0e62')
    @decorators.attr(type='slow')
    def test_rate_after_revocations(self):
        self.token()  # a first one, which may find the server cold
        curve = {}
        for part in POINTS:
            wanted = round(part * CONF.revcache.revocations)
            self.revoke(wanted - max(curve, default=0))
            curve[wanted] = self.rate()
        text = ', '.join(
            f'{rate:.0f}/s after {count}' for count, rate in curve.items()
        )
        self.addDetail('curve', content.text_content(text))
        left = curve[max(curve)] / curve[0]
        if left < CONF.revcache.rate_ratio:
            self.broken(
                f'the revocations left {left:.0%} of the rate, where '
                f'{CONF.revcache.rate_ratio:.0%} is the least: {text}'
            )
