# SPDX-License-Identifier: Apache-2.0

"""Tests of what the measurements make of what they saw."""

import types

import testtools

from bench import load
from bench import mixed
from bench import plan
from bench import prune
from bench import revocations
from bench import runs
from bench import summary


def _run(rate, **more):
    return {'rate': rate, 'p50': 10, 'p99': 20, **more}


class SummaryTestCase(testtools.TestCase):
    def test_a_machine_that_drifts_leaves_the_ratio_alone(self):
        runs = [_run(95), _run(47.5), _run(190)]
        found = summary.side(runs, [_run(100), _run(50), _run(200)])
        self.assertEqual(0.95, found['of_own_0'])
        self.assertEqual([0.95, 0.95], found['of_own_0_spread'])
        self.assertEqual(95, found['rate'])
        self.assertEqual([47.5, 190], found['rate_spread'])

    def test_one_odd_round_does_not_count(self):
        runs = [_run(99), _run(20), _run(98)]
        found = summary.side(runs, [_run(100)] * 3)
        self.assertEqual(0.98, found['of_own_0'])
        self.assertEqual([0.2, 0.99], found['of_own_0_spread'])

    def test_a_round_without_the_point(self):
        found = summary.side([_run(1), None, None], [_run(100)] * 3)
        self.assertEqual(1, found['repeats'])
        self.assertEqual(0.01, found['of_own_0'])

    def test_trimmed_mean(self):
        for mean, values in (
            (3, [3]), (2.5, [4, 1]), (2, [7, 0.5, 2]), (4, [9, 1, 5, 3]),
        ):  # fmt: skip
            self.assertEqual(mean, summary.trimmed_mean(values))

    def test_medians_of_what_was_measured(self):
        runs = [{'gets': 1}, {'gets': 2}, {'gets': 9}, {'gets': None}]
        self.assertEqual(
            {'gets': 2, 'refused': None},
            summary.medians(runs, ('gets', 'refused')),
        )

    def test_other_middle_of_the_rounds(self):
        patched = [_run(9), _run(2), _run(2), _run(5)]
        found = summary.point(
            {'stock': [_run(1)] * 4, 'patched': patched},
            average=summary.trimmed_mean,
        )
        self.assertEqual(
            (3.5, [2, 9]), (found['ratio'], found['ratio_spread'])
        )


class ComparedTestCase(testtools.TestCase):
    def test_both_sides_in_each_round(self):
        found = summary.point(
            {'stock': [_run(100), _run(50)], 'patched': [_run(300), _run(100)]}
        )
        self.assertEqual(1, found['stock']['of_own_0'])
        self.assertEqual(2.5, found['patched']['of_own_0'])
        self.assertEqual(
            (2.5, [2, 3]), (found['ratio'], found['ratio_spread'])
        )

    def test_each_side_against_others(self):
        found = summary.point(
            {'stock': [_run(50)], 'patched': [_run(80)]},
            {'stock': [_run(100)], 'patched': [_run(100)]},
        )
        self.assertEqual(0.5, found['stock']['of_own_0'])
        self.assertEqual(0.8, found['patched']['of_own_0'])
        self.assertEqual(1.6, found['ratio'])


class RunsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.runs = runs.Runs('load', 'size')
        for about, stock, patched in (
            (('few', 1), 20, 50), (('few', 9), 10, 40), (('few', 1), 20, 60),
            (('few', 9), 20, 90),
        ):  # fmt: skip
            for name, rate in (('patched', patched), ('stock', stock)):
                side = types.SimpleNamespace(name=name)
                self.runs.measure(side, about, _run, rate)

    def test_points(self):
        points = self.runs.points()
        self.assertEqual(
            [('few', 1, 2.75), ('few', 9, 4.25)],
            [(one['load'], one['size'], one['ratio']) for one in points],
        )
        self.assertIn('steal', points[0]['stock']['runs'][0])

    def test_further_fields_and_references(self):
        *_, point = self.runs.points(
            references=lambda about: self.runs.measured['few', 9],
            medians=('p50', 'gets'),
        )
        self.assertEqual(1, point['patched']['of_own_0'])
        self.assertEqual(10, point['patched']['p50'])
        self.assertIsNone(point['patched']['gets'])


class RevocationsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        found = runs.Runs('kind', 'events')
        for events, stock, patched in (
            (0, [100, 50], [200, 100]),
            (1000, [_run(2, slow=True), None], [190, 99]),
        ):
            for side, rates in (('stock', stock), ('patched', patched)):
                measured = found.measured.setdefault(('chain', events), {})
                measured[side] = [
                    _run(one) if isinstance(one, int) else one for one in rates
                ]
        self.points = revocations.points(found)

    def test_each_side_against_itself(self):
        none, many = self.points
        self.assertEqual(('chain', 1000), (many['kind'], many['events']))
        self.assertEqual(1, none['patched']['of_own_0'])
        self.assertEqual(0.97, many['patched']['of_own_0'])
        self.assertEqual(0.02, many['stock']['of_own_0'])

    def test_text(self):
        lines = revocations.text(self.points).splitlines()
        self.assertEqual(6, len(lines))
        self.assertRegex(
            lines[-1],
            r'^chain +1000 +patched +144.5 +97.0 % +95\.0\.\.99\.0 .* 2$',
        )


class RevocationsSliceTestCase(testtools.TestCase):
    """Which load a slice is made of, by how fast a side is."""

    def of(self, rate, caching=False):
        """Measure a side of a rate: its loads, and what was found."""
        loads = []
        one = load.Answers(rate=rate, times={1000: 20})

        def record(name):
            return lambda url, *_: loads.append(name) or one

        for name in ('exactly', 'during'):
            self.patch(revocations.load, name, record(name))
        self.patch(revocations.client, 'token', lambda keystone: 'token')
        side = types.SimpleNamespace(
            name='stock', url='', keystone=None, flush_cache=lambda: None
        )
        chosen = plan.Plan(pin=None, scale='small', caching=caching)
        return loads, revocations.measure(side, chosen)

    def test_those_under_way_at_the_end_are_waited_for(self):
        # Or they are answered while the other side is measured.
        loads, found = self.of(rate=100)
        self.assertEqual(['exactly'] * 3 + ['during', 'exactly'], loads)
        self.assertNotIn('slow', found)

    def test_one_request_of_each_client_where_a_slice_is_too_short(self):
        loads, found = self.of(rate=9)
        self.assertEqual(['exactly'] * 2, loads)
        self.assertTrue(found['slow'])

    def test_the_first_ones_do_where_each_takes_as_long(self):
        self.assertEqual(['exactly'], self.of(rate=1)[0])
        self.assertEqual(['exactly'] * 2, self.of(rate=1, caching=True)[0])


class MixedTestCase(testtools.TestCase):
    def run_of(self, rate, revoked=0):
        return _run(
            rate, steal=0, revoked=revoked, revoke_p50=None,
            revoke_p99=None, revoker_cpu=0.01,
        )  # fmt: skip

    def points(self, busy, quiet, alone):
        """The points of runs: {revocations asked for: {side: runs}}."""
        found = [runs.Runs('asked'), runs.Runs('asked')]
        for one, measured in zip(found, (busy, quiet), strict=True):
            one.measured = {(rate,): of for rate, of in measured.items()}
        return mixed.points(*found, alone, 2)

    def test_loss_is_against_the_slice_beside_it(self):
        # A machine that was twice as fast in the first round.
        busy = [self.run_of(90, 9), self.run_of(45, 11)]
        idle = [self.run_of(100), self.run_of(50)]
        _, point = self.points(
            {10: {'stock': busy}}, {10: {'stock': idle}}, {'stock': 20}
        )
        found = point['stock']
        self.assertEqual(0.1, found['loss'])
        self.assertEqual([0.9, 0.9], found['of_own_0_spread'])
        self.assertEqual(10, found['revoked'])
        self.assertEqual(77.5, found['requests'])
        # 10 revocations of 20 ms each, in two processes.
        self.assertAlmostEqual(0.1, found['work'])

    def test_nothing_is_lost_without_revocations(self):
        busy = {
            5: {'stock': [self.run_of(40, 5)]},
            10: {'stock': [self.run_of(20, 10)]},
        }
        quiet = {
            5: {'stock': [self.run_of(100)]},
            10: {'stock': [self.run_of(50)]},
        }
        idle, *others = self.points(busy, quiet, {'stock': 20})
        self.assertEqual(0, idle['asked'])
        found = idle['stock']
        self.assertEqual((75, 2), (found['rate'], found['repeats']))
        self.assertEqual((0, 0), (found['loss'], found['work']))
        self.assertIsNone(found['revoke_p99'])
        self.assertEqual([5, 10], [point['asked'] for point in others])
        self.assertEqual(
            [0.6, 0.6], [point['stock']['loss'] for point in others]
        )

    def test_text(self):
        busy, quiet = (
            {
                rate: {
                    side: [self.run_of(100, revoked)]
                    for side in ('stock', 'patched')
                }
                for rate, revoked in rates
            }
            for rates in (((10, 10), (50, 50)), ((10, 0), (50, 0)))
        )
        points = self.points(busy, quiet, {'stock': 20, 'patched': 10})
        lines = mixed.text(points).splitlines()
        self.assertEqual(2 + 2 * 3, len(lines))
        self.assertRegex(lines[-1], r'^ *50 +patched +50.0 +100.0 .* 25.0 %')


class AllKindsTestCase(testtools.TestCase):
    def point(self, kind, events, *rates):
        runs = [{'rate': rate} for rate in rates]
        return {'kind': kind, 'events': events, 'patched': {'runs': runs}}

    def test_each_run_is_compared_with_its_own_round(self):
        found = [
            self.point('audit', 0, 100, 200),
            self.point('audit', 10, 90, 180),
            self.point('chain', 0, 400, 100),
            self.point('chain', 10, 360, 90),
        ]
        self.assertRegex(
            revocations.of_own_0(found), r'(?m)^ +10 +90.0 % +4 +90.0..90.0$'
        )

    def test_too_few_runs_say_nothing(self):
        found = [self.point('audit', 0, 100), self.point('audit', 10, 90)]
        self.assertEqual('', revocations.of_own_0(found))


class PruneTestCase(testtools.TestCase):
    def test_latency(self):
        found = prune.latency([[30], [60]], [[20, 30], [40, 30]])
        self.assertEqual(45, found['ms'])
        self.assertEqual([30, 60], found['spread'])
        self.assertEqual(1.5, found['of_own_0'])

    def test_text(self):
        times = {
            ('stock', 0): [[40]],
            ('stock', 100): [[14000]],
            ('patched', 0): [[40]],
            ('patched', 100): [[44]],
        }
        pruning = {
            'quiet': [_run(100)],
            'pruning': [_run(90), _run(80)],
            'p99_ratio': 1.1,
            'memory': {'first': 102400, 'most': 103424},
            'summary': 'Deleted 100 events.',
            'lock_waits': 1,
            'longest_lock_wait': '3 ms',
            'deadlocks': 0,
        }
        text = prune.text([*prune.points(times, 100), pruning])
        self.assertRegex(text, r'(?m)^ +100  stock +14000 .* 350.00 ')
        self.assertRegex(text, r'(?m)^ +100  patched +44 .* 1.10 ')
        self.assertRegex(text, r'(?m)^pruning +85.0 ')
        self.assertIn('100.0 MiB after its first batch, 101.0 MiB', text)
