# SPDX-License-Identifier: Apache-2.0

import logging
import random

import fixtures
from oslo_policy import policy

from keystone.common.rbac_enforcer import enforcer as rbac_enforcer
from keystone import exception
from keystone.tests import unit
from keystone.token.validation_cache import decisions

_ACTION = 'identity:validate_token'
_USER, _DOMAIN = 'target.token.user_id', 'target.token.user.domain.id'
_CHECKS = (
    '@',
    '!',
    'role:reader',
    'role:admin',
    'user_id:one',
    'rule:other',
    'rule:missing',
    f'role:%({_USER})s',
    f'user_id:%({_USER})s',
    f"'two':%({_USER})s",
    f'domain_id:%({_DOMAIN})s',
    # Checks that fail, some of them for some targets only.
    f'user_id:%({_USER})d',
    f'class:%({_DOMAIN})s',
    f'user_id.name:%({_USER})s',
)


class DecisionsTests(unit.TestCase):
    """Reused decisions are those of oslo.policy."""

    def setUp(self):
        super().setUp()
        # Each enforcement would be logged.
        logger = logging.getLogger('oslo_policy')
        self.addCleanup(logger.setLevel, logger.level)
        logger.setLevel(logging.INFO)
        self.enforcer = rbac_enforcer.RBACEnforcer()
        self.credentials = {
            'user_id': 'one',
            'domain_id': 'here',
            'project_id': 'project',
            'roles': ['reader'],
        }
        self.enforced = 0

    def set_rules(self, rule, other='!'):
        self.enforcer._enforcer.set_rules(
            policy.Rules.from_dict({_ACTION: rule, 'other': other}),
            use_conf=False,
        )

    def decisions(self):
        """Decisions whose enforcements are counted."""
        made = decisions.Decisions(self.credentials)
        enforce = rbac_enforcer.RBACEnforcer._enforce

        def counted(*args):
            self.enforced += 1
            return enforce(*args)

        self.useFixture(
            fixtures.MockPatchObject(
                rbac_enforcer.RBACEnforcer, '_enforce', counted
            )
        )
        return made

    def outcome(self, decide, *args):
        try:
            return bool(decide(*args))
        except Exception as error:
            return type(error)

    def rule(self, dice, depth=2):
        """A random rule."""
        if not depth or not dice.randrange(4):
            return dice.choice(_CHECKS)
        parts = [self.rule(dice, depth - 1) for _ in range(2)]
        operator = dice.choice((' and ', ' or ', ' or ', None))
        if operator is None:
            return f'not {dice.choice(_CHECKS)}'
        return f'({operator.join(parts)})'

    def target(self, dice):
        target = ((_USER, dice.choice(('one', 'two', 'three'))),)
        if dice.randrange(3):
            target += ((_DOMAIN, dice.choice(('here', 'there'))),)
        return target

    def test_random_rules(self):
        dice = random.Random(39)
        for _ in range(300):
            self.set_rules(self.rule(dice), self.rule(dice, 1))
            made = decisions.Decisions(self.credentials)
            for _ in range(4):
                target = self.target(dice)
                self.assertEqual(
                    self.outcome(
                        self.enforcer._enforce,
                        self.credentials,
                        _ACTION,
                        dict(target),
                    ),
                    self.outcome(made.allow, _ACTION, target),
                    (str(self.enforcer._enforcer.rules[_ACTION]), target),
                )

    def test_decided_once_for_all_targets(self):
        self.set_rules(f'user_id:%({_USER})s or role:reader')
        made = self.decisions()

        for number in range(9):
            self.assertTrue(made.allow(_ACTION, ((_USER, str(number)),)))

        # Once more for a target with which no check agrees.
        self.assertEqual(2, self.enforced)

    def test_decided_for_each_target(self):
        self.set_rules(f'user_id:%({_USER})s')
        made = self.decisions()

        for _ in range(3):
            self.assertTrue(made.allow(_ACTION, ((_USER, 'one'),)))
        self.assertEqual(2, self.enforced)
        self.assertRaises(
            exception.ForbiddenAction, made.allow, _ACTION, ((_USER, 'two'),)
        )

    def test_rules_changed_by_another_thread(self):
        """What was found out about the old rules is not used for the new."""
        self.set_rules('role:reader')
        made = self.decisions()
        enforce = rbac_enforcer.RBACEnforcer._enforce

        def change_meanwhile(*args):
            enforce(*args)
            if self.enforced == 2:
                # The old rules were found to allow any target.
                self.set_rules(f'user_id:%({_USER})s')
                made.allow(_ACTION, ((_USER, 'one'),))

        with fixtures.MockPatchObject(
            rbac_enforcer.RBACEnforcer, '_enforce', change_meanwhile
        ):
            made.allow(_ACTION, ((_USER, 'two'),))
        made.allow(_ACTION, ((_USER, 'one'), (_DOMAIN, 'here')))

        self.assertRaises(
            exception.ForbiddenAction, made.allow, _ACTION, ((_USER, 'two'),)
        )

    def test_negation(self):
        self.set_rules(f'not user_id:%({_USER})s')
        made = self.decisions()

        self.assertTrue(made.allow(_ACTION, ((_USER, 'two'),)))
        self.assertRaises(
            exception.ForbiddenAction, made.allow, _ACTION, ((_USER, 'one'),)
        )
