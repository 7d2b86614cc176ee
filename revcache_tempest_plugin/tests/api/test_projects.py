# SPDX-License-Identifier: Apache-2.0

"""Tokens for a project that is disabled."""

from tempest.lib import decorators

from revcache_tempest_plugin.tests.api import base


class ProjectDisableTest(base.PromiseTestCase):
    promise = 'project_disable'

    @decorators.idempotent_id('8c2e6d91-b7f4-4d5a-8a1c-e93f0b6d299d')
    def test_disable_then_enable(self):
        closed, open_ = self.project(), self.project()
        person = self.member(closed, open_)
        doomed = self.log_in(
            person, 'a token for the project', project_id=closed
        )
        other = self.log_in(
            person, 'a token for another project', project_id=open_
        )
        unscoped = self.log_in(person, "the user's unscoped token")
        self.assert_valid(doomed, other, unscoped)
        self.projects.update_project(closed, enabled=False)
        self.assert_refused(doomed)
        self.assert_valid(other, unscoped)
        self.projects.update_project(closed, enabled=True)
        self.assert_valid(
            self.log_in(person, 'a token issued later', project_id=closed)
        )
