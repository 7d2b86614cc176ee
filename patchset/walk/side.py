# SPDX-License-Identifier: Apache-2.0

"""One of the two clouds: its nodes, and the resources of the walk."""

import time

from patchset import client
from patchset.walk import steps
from patchset.walk.names import ADMIN


class Side:
    """One cloud.

    :param name: ``stock`` or ``patched``
    :param testbed: the :class:`patchset.walk.testbed.Testbed`
    """

    def __init__(self, name, testbed):
        self.name = name
        self.nodes = testbed.nodes(name)
        self.testbed = testbed
        self.ids = {}  # {name: id} of existing resources
        self.names = {}  # {id: name}, including deleted resources
        self.details = {}  # {name: further data that operations need}
        self.keys = {}  # {name: (access key, secret)}, including deleted ones
        self.tokens = {}  # {name: value}; no value is ever printed
        self.callers = {}  # {name: name of the token that validates it}
        self.node = self.nodes[0]
        self._last_write = 0

    def sign_in(self, password):
        """Issue a token for the admin, and record initial resources."""
        answer = self.authenticate(
            client.password(password), client.ADMIN_PROJECT
        )
        self.add_token(ADMIN, answer, ADMIN)
        self.names[answer.body['token']['user']['id']] = 'admin'
        self.names[answer.body['token']['project']['id']] = 'admin'
        self.ids['default'] = 'default'
        for role in self.request('GET', '/roles').body['roles']:
            self.add(role['name'], role['id'])

    # Names.

    def add(self, name, identifier):
        """Record a new resource."""
        self.ids[name] = identifier
        self.names[identifier] = name

    def id(self, name):
        """Id of an existing resource.

        :raises patchset.walk.steps.NotApplicable: it does not exist
        """
        try:
            return self.ids[name]
        except KeyError:
            raise steps.NotApplicable(name)

    def require_absent(self, name):
        """:raises patchset.walk.steps.NotApplicable: the resource exists"""
        if name in self.ids:
            raise steps.NotApplicable(name)

    def remove(self, *names):
        """Record deleted resources."""
        for name in names:
            self.ids.pop(name, None)
            self.details.pop(name, None)

    def token(self, name):
        """A token's value.

        :raises patchset.walk.steps.NotApplicable: there is none of that name
        """
        try:
            return self.tokens[name]
        except KeyError:
            raise steps.NotApplicable(name)

    # Requests.

    def request(self, method, path, body=None, token=None, headers=None):
        """Send a request to the node of the step, by default as the admin."""
        token = token or self.token(ADMIN)
        self._flush_stock_cache()
        answer = self.node.ask(method, path, token, body, headers)
        if method not in ('GET', 'HEAD'):
            self.record_write()
        return answer

    def create(self, kind, name, path=None, /, **values):
        """Create a resource whose id is chosen by Keystone."""
        self.require_absent(name)
        answer = self.request('POST', path or f'/{kind}s', {kind: values})
        if answer.status == 201:
            self.add(name, answer.body[kind]['id'])
        return answer

    def update(self, kind, name, path=None, /, **values):
        """Update a resource."""
        path = f'{path or f"/{kind}s"}/{self.id(name)}'
        return self.request('PATCH', path, {kind: values})

    def delete(self, path, *names):
        """Delete a resource, and record that with all its names."""
        answer = self.request('DELETE', path)
        if answer.status == 204:
            self.remove(*names)
        return answer

    def _flush_stock_cache(self):
        # The comparison must not depend on stock's own cache.
        if self.name == 'stock':
            self.testbed.flush('stock')

    def authenticate(self, identity, scope=None, headers=None):
        """The response to a sign-in."""
        self.wait_for_next_second()
        self._flush_stock_cache()
        return self.node.authenticate(identity, scope, headers)

    def add_token(self, name, answer, caller):
        """Record the token of a sign-in; returns the response."""
        if answer.status in (200, 201) and 'x-subject-token' in answer.headers:
            self.tokens[name] = answer.headers['x-subject-token']
            self.callers[name] = caller
        return answer

    def record_write(self):
        """Record that tokens may have been revoked up to now."""
        self._last_write = time.time()

    def wait_for_next_second(self):
        """Wait until a new token is not of the same second as a revocation.

        Both times are in whole seconds, and a token of the same second is
        rejected, also by stock.
        """
        while int(time.time()) <= int(self._last_write):
            time.sleep(0.02)

    def scope(self, name):
        """The scope of a sign-in from its name, or None."""
        if name is None:
            return None
        if name == 'system':
            return {'system': {'all': True}}
        kind, _, what = name.partition(':')
        return {kind: {'id': self.id(what)}}

    # Operations of an operator.

    def manage(self, *words):
        """Run a keystone-manage command; its exit code is the status."""
        code = self.testbed.manage(self.name, words)
        self.record_write()
        return client.Answer(code)

    def flush_cache(self):
        """Flush the memcached of the patched nodes."""
        if self.name == 'patched':
            self.testbed.flush_node_caches()
