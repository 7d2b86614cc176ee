# SPDX-License-Identifier: Apache-2.0

"""Clients that put load on a cluster and check the responses."""

import collections
import dataclasses
import http.client
import itertools
import random
import threading
import time

VALID = 20  # tokens that are validated repeatedly
RECENT = 30  # last revoked tokens, which are validated again
SLACK = 1.0  # seconds added to a bound, for the timers of servers
_PAUSES = {
    'validate': 0.02, 'revoke': 0.1, 'validate_revoked': 0.05, 'write': 0.3,
}  # fmt: skip
_CLIENTS = (
    *2 * ['validate'], *3 * ['revoke'], 'validate_revoked', 'write',
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Request:
    """One request through HAProxy.

    :param start: time of the request, in seconds of the monotonic clock
    :param end: time of the response
    :param outcome: ``ok``; ``failed``: no response, or a server error;
        ``refused``: a valid request was rejected
    """

    start: float
    end: float
    outcome: str


@dataclasses.dataclass(frozen=True)
class Revoked:
    """A token that was successfully revoked.

    :param since: time of the response, in seconds of the monotonic clock
    :param bound: seconds after which no node may accept it
    """

    token: str
    since: float
    bound: float


class Load:
    """The clients; a context manager.

    :param cluster: a running :class:`patchset.cluster.cluster.Cluster`
    :param interval: ``[revoke] sync_interval`` of the nodes, in seconds
    """

    def __init__(self, cluster, interval):
        self._haproxy = cluster.client
        self._nodes = cluster.clients
        self._login = cluster.login
        self._bound_without_cache = interval + SLACK
        # Without a shared cache, nodes read revocations from the database.
        self._is_shared = cluster.layout.cache != 'per-node'
        #: seconds for which tokens revoked from now on may be accepted
        self.bound = self._default_bound
        self._numbers = itertools.count()
        self._end = threading.Event()
        self._threads = []
        self._caller = None
        self._valid = []
        self._projects = []
        self.requests = []  # of :class:`Request`
        self.revoked = []  # of :class:`Revoked`
        self.accepted = []  # [token, name of node, seconds past its bound]
        self.longest = 0.0  # seconds, including within the bound

    @property
    def _default_bound(self):
        return 0 if self._is_shared else self._bound_without_cache

    def __enter__(self):
        self._caller = self._issue()[1]
        self._valid = [self._issue()[1] for _ in range(VALID)]
        for name in _CLIENTS:
            action = getattr(self, f'_{name}')
            thread = threading.Thread(
                target=self._repeat, args=(action, _PAUSES[name])
            )
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(self, *_):
        self._end.set()
        for thread in self._threads:
            thread.join()

    def allow_cache_loss(self):
        """Allow the caches to lose revocations from now on."""
        self.bound = self._bound_without_cache

    def forbid_cache_loss(self):
        """Expect the caches to keep revocations from now on."""
        self.bound = self._default_bound

    def summary(self, start, end):
        """Summary of the requests of a period.

        :param start: in seconds of the monotonic clock
        :param end: in seconds of the monotonic clock
        :returns: dict of ``requests``, their number; ``failed`` and
            ``refused``, how many of them were; ``recovered``, the seconds from
            the start until the last such request ended; ``slowest``, the
            longest response time in seconds
        """
        # The clients are still running.
        requests = [
            one
            for one in self.requests[:]
            if one.end >= start and one.start <= end
        ]
        counts = collections.Counter(one.outcome for one in requests)
        failures = [one.end - start for one in requests if one.outcome != 'ok']
        return {
            'requests': len(requests),
            'failed': counts['failed'],
            'refused': counts['refused'],
            'recovered': round(max(failures, default=0), 2),
            'slowest': round(
                max((one.end - one.start for one in requests), default=0), 2
            ),
        }

    def find_losses(self):
        """Check all tokens and projects at every node, after the load.

        :returns: list of errors as texts
        """
        losses = []
        for one in self._nodes:
            for number, token in enumerate(self._valid):
                if one.validate(self._caller, token) != http.client.OK:
                    losses.append(f'{one.name}: valid token {number}')
            for number, revoked in enumerate(self.revoked):
                status = one.validate(self._caller, revoked.token)
                if status != http.client.NOT_FOUND:
                    losses.append(f'{one.name}: revoked {number}: {status}')
            for project in self._projects:
                path = f'/projects/{project}'
                if one.ask('GET', path, self._caller).status != 200:
                    losses.append(f'{one.name}: project {project}')
        return losses

    # The actions of the clients.

    def _repeat(self, action, pause):
        while not self._end.wait(pause):
            action()

    def _validate(self):
        token = random.choice(self._valid)
        self._request('GET', '/auth/tokens', http.client.OK, token)

    def _validate_revoked(self):
        if self.revoked:
            self._check(self._haproxy, random.choice(self.revoked[-RECENT:]))

    def _write(self):
        name = f'of-load-{next(self._numbers)}'
        body = {'project': {'name': name, 'domain_id': 'default'}}
        answer = self._request(
            'POST', '/projects', http.client.CREATED, body=body
        )
        if answer.status == http.client.CREATED:
            self._projects.append(answer.body['project']['id'])

    def _revoke(self):
        status, token = self._issue()
        if status != http.client.CREATED:
            return
        for one in self._nodes:
            # Let each node cache values that the revocation affects.
            one.validate(self._caller, token)
        previous = self.bound
        answer = self._request(
            'DELETE', '/auth/tokens', http.client.NO_CONTENT, token
        )
        if answer.status != http.client.NO_CONTENT:
            return  # its outcome is unknown
        bound = max(previous, self.bound)
        revoked = Revoked(token, time.monotonic(), bound)
        for one in self._nodes:
            self._check(one, revoked)
        self.revoked.append(revoked)

    def _check(self, one, revoked):
        """Validate a revoked token at a node, or through HAProxy."""
        start = time.monotonic()
        status = one.validate(self._caller, revoked.token)
        if one is self._haproxy:
            self._record(start, status, http.client.NOT_FOUND)
        if status == http.client.OK:
            age = start - revoked.since
            self.longest = max(self.longest, age)
            if age > revoked.bound:
                excess = round(age - revoked.bound, 3)
                self.accepted.append([len(self.revoked), one.name, excess])

    # Requests.

    def _issue(self):
        """Issue a token for the admin: status and token."""
        start = time.monotonic()
        answer = self._haproxy.authenticate(*self._login)
        self._record(start, answer.status, http.client.CREATED)
        return answer.status, answer.headers.get('x-subject-token')

    def _request(self, method, path, expected, subject=None, body=None):
        """Send a request through HAProxy and record its outcome."""
        headers = {'X-Subject-Token': subject} if subject else None
        start = time.monotonic()
        answer = self._haproxy.ask(method, path, self._caller, body, headers)
        self._record(start, answer.status, expected)
        return answer

    def _record(self, start, status, expected):
        outcome = 'ok'
        if status in (0, *range(500, 600)):
            outcome = 'failed'
        elif status != expected and status != http.client.OK:
            outcome = 'refused'
        self.requests.append(Request(start, time.monotonic(), outcome))
