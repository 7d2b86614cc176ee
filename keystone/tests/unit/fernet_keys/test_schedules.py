# SPDX-License-Identifier: Apache-2.0

"""Random schedules of rotations, changes of options, and tokens."""

import hypothesis
from hypothesis import strategies

from keystone.tests.unit.fernet_keys import base

_NODE = strategies.integers(0, 1)
_SECONDS = strategies.sampled_from((60, 300, 3600, 20_000))
_STEPS = strategies.one_of(
    strategies.tuples(strategies.sampled_from(('issue', 'rescope')), _NODE),
    strategies.tuples(
        strategies.just('wait'),
        strategies.sampled_from((60, 3600, 20_000, 100_000)),
    ),
    # By the recipe, and not.
    strategies.tuples(strategies.sampled_from(('turn', 'rotate')), _NODE),
    strategies.tuples(
        strategies.sampled_from(('report', 'distribute', 'empty_cache'))
    ),
    strategies.tuples(
        strategies.sampled_from(('set_expiration', 'set_window')),
        _NODE,
        _SECONDS,
    ),
)
_SCHEDULES = strategies.lists(_STEPS, max_size=30)
_PLACES = strategies.tuples(
    strategies.integers(1, 2), strategies.sampled_from((3, 4, 2, 1))
)
_OF_A_NODE = frozenset(
    ('issue', 'rescope', 'rotate', 'turn', 'set_expiration', 'set_window')
)

_SETTINGS = hypothesis.settings(
    max_examples=25,
    deadline=None,
    database=None,
    derandomize=True,
    # A machine that is busy is no failure.
    suppress_health_check=list(hypothesis.HealthCheck),
)


class ScheduleTests(base.KeysTestCase):
    def setUp(self):
        super().setUp()
        self.config_fixture.config(group='revoke', longest_token_lifetime=7200)
        self.worlds = []

    def play(self, place, schedule, guard):
        """Whether a schedule cuts a token that could be accepted."""
        self.config_fixture.config(
            group='fernet_tokens', expected_nodes=place[0]
        )
        world_ = self.world(*place)
        self.worlds.append(world_)
        for name, *arguments in schedule:
            if name in _OF_A_NODE:
                number, *rest = arguments
                arguments = [world_.nodes[number % len(world_.nodes)], *rest]
            if name in ('rotate', 'turn'):
                arguments.append(guard)
            getattr(world_, name)(*arguments)
            if world_.cut():
                return True
        return False

    def test_none_is_cut_with_the_guard_on(self):
        @_SETTINGS
        @hypothesis.given(
            _PLACES, strategies.lists(_STEPS, min_size=12, max_size=30)
        )
        def compare(place, schedule):
            self.assertFalse(self.play(place, schedule, True))

        compare()
        self.assertLess(0, sum(one.deletions for one in self.worlds))
        self.assertLess(0, sum(one.rotations for one in self.worlds))
        self.assertLess(0, sum(one.refusals for one in self.worlds))

    def test_stock_cuts_some(self):
        for nodes in (1, 2):
            found = hypothesis.find(
                strategies.tuples(
                    strategies.tuples(
                        strategies.just(nodes), strategies.integers(3, 5)
                    ),
                    _SCHEDULES,
                ),
                lambda found: self.play(*found, False),
                settings=hypothesis.settings(_SETTINGS, max_examples=2000),
            )
            # The guard refuses it.
            self.assertFalse(self.play(*found, True))
