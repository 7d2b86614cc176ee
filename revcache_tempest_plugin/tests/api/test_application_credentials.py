# SPDX-License-Identifier: Apache-2.0

"""Tokens of an application credential that is deleted."""

from tempest.lib import decorators

from revcache_tempest_plugin.tests.api import base


class ApplicationCredentialRemovalTest(base.PromiseTestCase):
    promise = 'application_credential_removal'

    @decorators.idempotent_id('e4a97d20-58bc-4f16-8d3b-1c60f5e2b9a7')
    def test_deleted_credential(self):
        person = self.member(place := self.project())
        own = self.log_in(person, "the user's own token", project_id=place)
        gone, kept = (
            self.application_credential(person, own) for _ in range(2)
        )
        doomed = self.log_in_with(gone, 'a token of the credential')
        other = self.log_in_with(kept, 'a token of another credential')
        self.assert_valid(doomed, other, own)
        self.application_credentials.delete_application_credential(
            person['user_id'], gone['id']
        )
        self.assert_refused(doomed)
        self.assert_valid(other, own)
