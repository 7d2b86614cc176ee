# SPDX-License-Identifier: Apache-2.0

from keystone.common import provider_api
import keystone.conf
from keystone.tests.unit.revoke import base

CONF = keystone.conf.CONF
PROVIDERS = provider_api.ProviderAPIs


class WholeChainTests(base.TokenTestCase):
    """A cascade from a token in the middle of its chain.

    The root was rescoped to the middle and the sibling, and the middle to the
    leaf. All three name the root, as rescoping does it.
    """

    def setUp(self):
        super().setUp()
        self.root = self.sign_in()
        self.middle = self.rescope(self.root)
        self.leaf = self.rescope(self.middle)
        self.sibling = self.rescope(self.root)

    def sign_in(self):
        return self.authenticate(password=self.user['password'])

    def rescope(self, token):
        return self.authenticate(token=token.id, project_id=self.project_id)

    def test_off_by_default(self):
        self.assertIs(False, CONF.revoke.whole_chain)

    def test_without_it_the_middle_goes_alone(self):
        self.delete_token(self.middle)

        self.assertRevoked(self.middle)
        for token in (self.root, self.leaf, self.sibling):
            self.assertValid(token)

    def test_event_for_each_token_that_is_there(self):
        self.delete_token(self.middle)
        self.assertEqual([(self.middle.audit_id, None)], self.events())
        self.delete_token(self.root)
        # Nodes of an earlier release do not match the root with its chain.
        self.assertCountEqual(
            [
                (self.middle.audit_id, None),
                (self.root.audit_id, None),
                (None, self.root.audit_id),
            ],
            self.events(),
        )

    def events(self):
        return [
            (event.audit_id, event.audit_chain_id)
            for event in PROVIDERS.revoke_api.list_events()
        ]

    def test_with_it_the_whole_chain_goes(self):
        self.config_fixture.config(group='revoke', whole_chain=True)
        again = self.sign_in()

        self.delete_token(self.middle)

        for token in (self.middle, self.root, self.leaf, self.sibling):
            self.assertRevoked(token)
        self.assertValid(again)
        # Nodes of an earlier release do not match the root with its chain.
        self.assertCountEqual(
            [
                (self.middle.audit_id, None),
                (self.root.audit_id, None),
                (None, self.root.audit_id),
            ],
            self.events(),
        )

    def test_with_it_the_root_takes_its_chain_as_before(self):
        self.config_fixture.config(group='revoke', whole_chain=True)

        self.delete_token(self.root)

        for token in (self.middle, self.root, self.leaf, self.sibling):
            self.assertRevoked(token)

    def test_cascade_false_revokes_one_token(self):
        self.config_fixture.config(group='revoke', whole_chain=True)

        self.delete_token(self.middle, '?cascade=false')

        self.assertRevoked(self.middle)
        for token in (self.root, self.leaf, self.sibling):
            self.assertValid(token)
