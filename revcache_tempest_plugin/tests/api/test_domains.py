# SPDX-License-Identifier: Apache-2.0

"""Tokens of the users and for the projects of a disabled domain."""

from tempest.lib import decorators

from revcache_tempest_plugin.tests.api import base


class DomainDisableTest(base.PromiseTestCase):
    promise = 'domain_disable'

    @decorators.idempotent_id('f49b3a07-2ce8-4b61-95fd-7ad0c8e130ae')
    def test_disable_then_enable(self):
        closed, open_ = self.domain(), self.domain()
        inside = self.project(domain_id=closed)
        outside = self.project(domain_id=open_)
        native = self.member(inside, outside, domain_id=closed)
        stranger = self.member(inside, outside, domain_id=open_)
        doomed = [
            self.log_in(native, "an unscoped token of the domain's user"),
            self.log_in(
                native,
                "a token of the domain's user for its own project",
                project_id=inside,
            ),
            self.log_in(
                native,
                "a token of the domain's user for a project elsewhere",
                project_id=outside,
            ),
            self.log_in(
                stranger,
                "a stranger's token for the domain's project",
                project_id=inside,
            ),
        ]
        other = self.log_in(
            stranger, 'a token for another domain', project_id=outside
        )
        self.assert_valid(*doomed, other)
        self.domains.update_domain(closed, enabled=False)
        self.assert_refused(*doomed)
        self.assert_valid(other)
        self.domains.update_domain(closed, enabled=True)
        self.assert_valid(
            self.log_in(native, 'a token issued later', project_id=inside),
            self.log_in(stranger, 'a token issued later', project_id=inside),
        )
