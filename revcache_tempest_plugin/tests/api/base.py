# SPDX-License-Identifier: Apache-2.0

"""What the tests share: people, places, tokens, and saying what broke."""

import dataclasses
import functools
import time

from oslo_serialization import jsonutils
from tempest import config
from tempest import test
from tempest.lib import exceptions
from tempest.lib.common.utils import data_utils
from tempest.lib.common.utils import test_utils

from revcache_tempest_plugin import promises

CONF = config.CONF

# How often a refusal is asked for again: processes of one server, and
# servers behind one address, can disagree.
ROUNDS = 4
PAUSE = 0.1  # seconds between two tries while a refusal may still come late


@dataclasses.dataclass(frozen=True)
class Token:
    """A token, and what the response that issued it says about it."""

    id: str
    body: dict
    name: str

    @property
    def audit_id(self):
        """The token's own audit id."""
        return self.body['audit_ids'][0]


class PromiseTestCase(test.BaseTestCase):
    """A test of one promise of :mod:`revcache_tempest_plugin.promises`."""

    credentials = ['admin']
    # Accounts are disabled and revoked here: never shared ones.
    force_tenant_isolation = True
    promise = None

    @classmethod
    def skip_checks(cls):
        super().skip_checks()
        if not CONF.revcache[cls.promise]:
            raise cls.skipException(f'[revcache] {cls.promise} is off')

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        if CONF.identity.admin_domain_scope:
            cls.os_admin.auth_provider.scope = 'domain'
        cls.application_credentials = (
            cls.os_admin.application_credentials_client
        )
        cls.domains = cls.os_admin.domains_client
        cls.groups = cls.os_admin.groups_client
        cls.identity = cls.os_admin.identity_v3_client
        cls.projects = cls.os_admin.projects_client
        cls.roles = cls.os_admin.roles_v3_client
        cls.tokens = cls.os_admin.token_v3_client
        cls.users = cls.os_admin.users_v3_client

    def name(self):
        """A name of this test's own for something that it creates."""
        return data_utils.rand_name(
            self.promise, prefix=CONF.resource_name_prefix
        )

    def undo(self, function, *arguments, **keywords):
        """Call a function at the test's end, its object gone or not."""
        self.addCleanup(
            test_utils.call_and_ignore_notfound_exc,
            function,
            *arguments,
            **keywords,
        )

    def domain(self):
        """Create a domain and return its id."""
        domain = self.domains.create_domain(name=self.name())['domain']['id']
        self.undo(self.domains.delete_domain, domain)
        self.undo(self.domains.update_domain, domain, enabled=False)
        return domain

    def project(self, **attributes):
        """Create a project and return its id."""
        project = self.projects.create_project(self.name(), **attributes)
        self.undo(self.projects.delete_project, project['project']['id'])
        return project['project']['id']

    def role(self):
        """Create a role and return its id."""
        role = self.roles.create_role(name=self.name())['role']['id']
        self.undo(self.roles.delete_role, role)
        return role

    def user(self, **attributes):
        """Create a user; return its id and password as a dict."""
        password = data_utils.rand_password()
        user = self.users.create_user(
            name=self.name(), password=password, **attributes
        )['user']['id']
        self.undo(self.users.delete_user, user)
        return {'user_id': user, 'password': password}

    def member(self, *projects, **attributes):
        """Create a user with a role on each of the projects given."""
        user = self.user(**attributes)
        role = self.role()
        for project in projects:
            self.roles.create_user_role_on_project(
                project, user['user_id'], role
            )
        return {**user, 'role_id': role}

    def application_credential(self, user, token, **attributes):
        """Create an application credential; return what the API says of it.

        :param user: what :meth:`member` returned
        :param token: a project's token of that user
        """
        status, body = self.call(
            'POST',
            f'/users/{user["user_id"]}/application_credentials',
            token,
            body={
                'application_credential': {'name': self.name(), **attributes}
            },
        )
        self.assertEqual(201, status, body)
        credential = body['application_credential']
        # Not left to go with its user: on SQLite, its roles would stay and
        # meet the next application credential that gets its row's number.
        self.undo(
            self.application_credentials.delete_application_credential,
            user['user_id'],
            credential['id'],
        )
        return credential

    def log_in_with(self, credential, name):
        """Get a token with an application credential."""
        return self._token(
            name,
            app_cred_id=credential['id'],
            app_cred_secret=credential['secret'],
        )

    def log_in(self, user, name, **scope):
        """Get a token for a user.

        :param user: what :meth:`user` or :meth:`member` returned
        :param name: what to call the token in a failure's message
        :param scope: as :class:`V3TokenClient` takes it, or nothing
        """
        return self._token(
            name, user_id=user['user_id'], password=user['password'], **scope
        )

    def rescope(self, token, name, **scope):
        """Get a token with a token."""
        return self._token(name, token=token.id, **scope)

    def _token(self, name, **how):
        body = self.tokens.auth(**how)
        return Token(body.response['x-subject-token'], body['token'], name)

    def call(self, method, path, token, body=None, service_token=None):
        """Make a request that no client sends; return status and body.

        :param path: what follows ``/v3``
        :param service_token: sent as ``X-Service-Token``
        """
        headers = {'X-Auth-Token': token.id, 'Accept': 'application/json'}
        if service_token:
            headers['X-Service-Token'] = service_token.id
        if body is not None:
            headers['Content-Type'] = 'application/json'
            body = jsonutils.dumps(body)
        response, text = self.tokens.raw_request(
            CONF.identity.uri_v3.rstrip('/') + path,
            method,
            headers=headers,
            body=body,
        )
        return response.status, jsonutils.loads(text) if text else None

    def next_second(self):
        """Wait until new tokens are younger than what was just revoked.

        Tokens and events carry whole seconds, and an event revokes the
        tokens of its own second.
        """
        time.sleep(1.1)

    def broken(self, what):
        """Fail, and say which promise the server broke, and how."""
        sentence = promises.PROMISES[self.promise]
        self.fail(f'Promise broken ({self.promise}): {sentence} Yet {what}.')

    def accepted(self, method, token, allow_expired=False):
        """Whether a GET or a HEAD says that a token is valid."""
        ask = {'GET': self.identity.get, 'HEAD': self.identity.head}[method]
        query = '?allow_expired=1' if allow_expired else ''
        try:
            ask(f'auth/tokens{query}', headers={'X-Subject-Token': token.id})
        except exceptions.NotFound:
            return False
        return True

    def shown(self, token):
        """What a GET says of a token, as a dict."""
        return self.identity.show_token(token.id)['token']

    def assert_valid(self, *tokens, **keywords):
        """Fail unless GET and HEAD accept each of the tokens."""
        for token in tokens:
            for method in ('GET', 'HEAD'):
                if not self.accepted(method, token, **keywords):
                    self.broken(f'{method} refused {token.name}')

    def assert_refused(self, *tokens, **keywords):
        """Fail unless GET and HEAD refuse each token, in time, and stay."""
        self.assert_settled(
            *(
                (
                    f'{method} accepted {token.name}',
                    functools.partial(
                        self.accepted, method, token, **keywords
                    ),
                )
                for token in tokens
                for method in ('GET', 'HEAD')
            )
        )

    def assert_settled(self, *wrongs):
        """Fail unless each wrong ends in time, and stays away.

        :param wrongs: pairs of what to say, and a function that tells
            whether it is so
        """
        deadline = time.monotonic() + CONF.revcache.staleness
        for what, is_so in wrongs:
            while is_so():
                if time.monotonic() >= deadline:
                    self.broken(f'{what}{self._late()}')
                time.sleep(PAUSE)
        if CONF.revcache.staleness:
            time.sleep(max(0, deadline - time.monotonic()))
        for attempt in range(2, ROUNDS + 1):
            for what, is_so in wrongs:
                if is_so():
                    self.broken(f'{what} at try {attempt}, having not before')

    @staticmethod
    def _late():
        seconds = CONF.revcache.staleness
        return f' after {seconds} s' if seconds else ' right afterwards'
