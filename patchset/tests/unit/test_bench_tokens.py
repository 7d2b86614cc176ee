# SPDX-License-Identifier: Apache-2.0

"""Tests of the measurement of tokens with and without memcached."""

import testtools

from bench import load
from bench import runs
from bench import tokens


def _counters(**values):
    names = (
        'cmd_get', 'get_hits', 'cmd_set', 'bytes_read', 'bytes_written',
    )  # fmt: skip
    return {name: str(values.get(name, 0)) for name in names}


class TrafficTestCase(testtools.TestCase):
    def test_of_each_request(self):
        before = _counters(cmd_get=100, cmd_set=10, bytes_read=50)
        after = _counters(
            cmd_get=180,
            get_hits=60,
            cmd_set=12,
            bytes_read=90,
            bytes_written=1000,
        )
        self.assertEqual(
            {'gets': 16, 'hits': 12, 'sets': 0.4, 'bytes': 208},
            tokens.traffic(before, after, 5),
        )


class Side:
    """A Keystone that is never asked, and a memcached that counts."""

    url = 'http://127.0.0.1:1/v3/auth/tokens'

    def __init__(self):
        self.keystone = self.cache = self
        self.credentials = dict.fromkeys(
            (
                'OS_USERNAME', 'OS_PASSWORD', 'OS_USER_DOMAIN_NAME',
                'OS_PROJECT_NAME', 'OS_PROJECT_DOMAIN_NAME',
            ),
            'word',
        )  # fmt: skip
        self.counted = iter((_counters(), _counters(cmd_get=4000)))

    def stats(self):
        return next(self.counted)


class MeasureTestCase(testtools.TestCase):
    def test_as_many_requests_as_asked_for(self):
        asked = []

        def exactly(url, requests, clients):
            (_, subject, body), *_ = requests
            asked.append((len(requests), clients, subject, '"word"' in body))
            return load.Answers(rate=50, times={1000: 1000})

        self.patch(load, 'exactly', exactly)
        one = tokens.measure(Side(), 'create', 20, 1000)
        self.assertEqual([(1000, 20, '', True)], asked)
        self.assertEqual((50, 4), (one['rate'], one['gets']))


class AmountTestCase(testtools.TestCase):
    def test_the_small_scale_has_fewer(self):
        for asked, cached, uncached in (
            (('create', 1, 200), 50, 5),
            (('validate', 1, 200), 200, 5),
            (('create', 20, 1000), 250, 25),
            (('validate', 20, 500), 500, 20),
        ):
            for cache, expected in (('memcached', cached), ('none', uncached)):
                found = tokens.amount('small', cache, *asked)
                self.assertEqual(expected, found)

    def test_a_tenth_is_sent_without_a_cache(self):
        for what, clients, requests in tokens.LOADS:
            for cache, expected in (
                ('memcached', requests),
                ('none', max(requests // 10, clients)),
            ):
                found = tokens.amount('full', cache, what, clients, requests)
                self.assertEqual(expected, found)


class PointsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        found = runs.Runs('cache', 'what', 'clients')
        for cache in tokens.CACHES:
            for what, clients, _ in tokens.LOADS:
                measured = found.measured[cache, what, clients] = {}
                for side, rates in (
                    ('stock', (50, 25)),
                    ('patched', (60, 45)),
                ):
                    measured[side] = [
                        {
                            'rate': rate, 'p50': 3, 'p99': 7,
                            'gets': rate / 5, 'sets': 0, 'bytes': 1024,
                        }
                        for rate in rates
                    ]  # fmt: skip
        self.points = found.points(medians=tokens.TRAFFIC)

    def test_ratio_is_that_of_the_runs(self):
        self.assertEqual(
            len(tokens.CACHES) * len(tokens.LOADS), len(self.points)
        )
        point = self.points[0]
        self.assertEqual(1.5, point['ratio'])
        self.assertEqual([1.2, 1.8], point['ratio_spread'])
        self.assertEqual(
            (7.5, 10.5), (point['stock']['gets'], point['patched']['gets'])
        )

    def test_text(self):
        lines = tokens.text(self.points).splitlines()
        self.assertEqual(2 + 2 * len(self.points), len(lines))
        self.assertRegex(
            lines[-1],
            r'^none +validate +20 +patched +52.5 +1.50 +1.20..1.80 .* 1.0 +2$',
        )
