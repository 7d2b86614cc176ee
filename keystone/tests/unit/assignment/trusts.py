# SPDX-License-Identifier: Apache-2.0

"""Tokens of trusts, for tests of the API."""

from keystone.tests import unit


class TrustMixin:
    """For a RestfulTestCase."""

    def issue_for_trust(self, trustee, **kwargs):
        """Create a trust of the test's user, and a token for another one.

        :param trustee: the other user, with a password
        :param kwargs: for :func:`keystone.tests.unit.new_trust_ref`
        :returns: (id of the trust, the token)
        """
        ref = unit.new_trust_ref(
            trustor_user_id=self.user_id,
            trustee_user_id=trustee['id'],
            project_id=self.project_id,
            role_ids=[self.role_id],
            **kwargs,
        )
        made = self.post('/OS-TRUST/trusts', body={'trust': ref}).result
        trust_id = made['trust']['id']
        token = self.get_requested_token(self.sign_in(trustee, trust_id))
        return trust_id, token

    def sign_in(self, trustee, trust_id):
        """The body of a request for a token of a trust."""
        return self.build_authentication_request(
            user_id=trustee['id'],
            password=trustee['password'],
            trust_id=trust_id,
        )
