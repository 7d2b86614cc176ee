# SPDX-License-Identifier: Apache-2.0

"""Clients that put load on a cluster and check the responses.

Through HAProxy, two clients validate good tokens, one creates projects, three
issue tokens and revoke them, and one validates revoked tokens. Each revoked
token is also validated at every node, immediately after the response to its
revocation.
"""

import collections
import dataclasses
import http.client
import itertools
import random
import threading
import time

from bench import credentials

GOOD = 20  # tokens that are validated repeatedly
RECENT = 30  # last revoked tokens, which are validated again
SLACK = 1.0  # seconds added to a bound, for the timers of servers
_PAUSES = {'validate': 0.02, 'revoke': 0.1, 'look': 0.05, 'write': 0.3}
_CLIENTS = (*2 * ['validate'], *3 * ['revoke'], 'look', 'write')


@dataclasses.dataclass(frozen=True)
class Request:
    """One request through HAProxy.

    :param began: time of the request, in seconds of the monotonic clock
    :param ended: time of the response
    :param outcome: ``ok``; ``failed``: no response, or a server error;
        ``refused``: a valid request was rejected
    """

    began: float
    ended: float
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
        self._all = cluster.client
        self._nodes = cluster.clients
        self._account = cluster.account
        self._loose = interval + SLACK
        # Without a shared cache, nodes read revocations from the database.
        self._is_shared = cluster.layout.cache != 'per-node'
        #: seconds for which tokens revoked from now on may be accepted
        self.bound = self._usual
        self._numbers = itertools.count()
        self._ends = threading.Event()
        self._threads = []
        self._caller = None
        self._good = []
        self._projects = []
        self.requests = []  # of :class:`Request`
        self.revoked = []  # of :class:`Revoked`
        self.accepted = []  # [token, name of node, seconds past its bound]
        self.longest = 0.0  # seconds, including within the bound

    @property
    def _usual(self):
        return 0 if self._is_shared else self._loose

    def __enter__(self):
        self._caller = self._issue()[1]
        self._good = [self._issue()[1] for _ in range(GOOD)]
        for name in _CLIENTS:
            work = getattr(self, f'_{name}')
            thread = threading.Thread(
                target=self._keep, args=(work, _PAUSES[name])
            )
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(self, *_):
        self._ends.set()
        for thread in self._threads:
            thread.join()

    def loosen(self):
        """Allow the caches to lose revocations from now on."""
        self.bound = self._loose

    def tighten(self):
        """Expect the caches to keep revocations from now on."""
        self.bound = self._usual

    def summary(self, began, over):
        """Summary of the requests of a period.

        :param began: start, in seconds of the monotonic clock
        :param over: end
        :returns: dict of ``requests``, their number; ``failed`` and
            ``refused``, how many of them were; ``recovered``, the seconds from
            the start until the last such request ended; ``slowest``, the
            longest response time in seconds
        """
        # The clients are still running.
        found = [
            one
            for one in self.requests[:]
            if one.ended >= began and one.began <= over
        ]
        counts = collections.Counter(one.outcome for one in found)
        bad = [one.ended - began for one in found if one.outcome != 'ok']
        return {
            'requests': len(found),
            'failed': counts['failed'],
            'refused': counts['refused'],
            'recovered': round(max(bad, default=0), 2),
            'slowest': round(
                max((one.ended - one.began for one in found), default=0), 2
            ),
        }

    def lost(self):
        """Check all tokens and projects at every node, after the load.

        :returns: list of errors as texts
        """
        found = []
        for one in self._nodes:
            for number, token in enumerate(self._good):
                if self._validate_at(one, token) != http.client.OK:
                    found.append(f'{one.name}: good token {number}')
            for number, revoked in enumerate(self.revoked):
                status = self._validate_at(one, revoked.token)
                if status != http.client.NOT_FOUND:
                    found.append(f'{one.name}: revoked {number}: {status}')
            for project in self._projects:
                path = f'/projects/{project}'
                if one.ask('GET', path, self._caller).status != 200:
                    found.append(f'{one.name}: project {project}')
        return found

    # The actions of the clients.

    def _keep(self, work, pause):
        while not self._ends.wait(pause):
            work()

    def _validate(self):
        token = random.choice(self._good)
        self._ask('GET', '/auth/tokens', http.client.OK, token)

    def _look(self):
        if self.revoked:
            self._check(self._all, random.choice(self.revoked[-RECENT:]))

    def _write(self):
        name = f'of-load-{next(self._numbers)}'
        body = {'project': {'name': name, 'domain_id': 'default'}}
        answer = self._ask('POST', '/projects', http.client.CREATED, body=body)
        if answer.status == http.client.CREATED:
            self._projects.append(answer.body['project']['id'])

    def _revoke(self):
        status, token = self._issue()
        if status != http.client.CREATED:
            return
        for one in self._nodes:
            # Each node has cached values that the revocation affects.
            self._validate_at(one, token)
        before = self.bound
        answer = self._ask(
            'DELETE', '/auth/tokens', http.client.NO_CONTENT, token
        )
        if answer.status != http.client.NO_CONTENT:
            return  # its outcome is unknown
        bound = max(before, self.bound)
        revoked = Revoked(token, time.monotonic(), bound)
        for one in self._nodes:
            self._check(one, revoked)
        self.revoked.append(revoked)

    def _check(self, one, revoked):
        """Validate a revoked token at a node, or through HAProxy."""
        began = time.monotonic()
        status = self._validate_at(one, revoked.token)
        if one is self._all:
            self._note(began, status, http.client.NOT_FOUND)
        if status == http.client.OK:
            late = began - revoked.since
            self.longest = max(self.longest, late)
            if late > revoked.bound:
                late = round(late - revoked.bound, 3)
                self.accepted.append([len(self.revoked), one.name, late])

    # Requests.

    def _issue(self):
        """Issue a token for the admin: status and token."""
        body = credentials.login_body(self._account)
        answer = self._ask(
            'POST', '/auth/tokens', http.client.CREATED, body=body
        )
        return answer.status, answer.headers.get('x-subject-token')

    def _validate_at(self, one, token):
        return one.validate(self._caller, token)

    def _ask(self, method, path, wanted, subject=None, body=None):
        """Send a request through HAProxy and record its outcome."""
        headers = {'X-Subject-Token': subject} if subject else None
        began = time.monotonic()
        answer = self._all.ask(method, path, self._caller, body, headers)
        self._note(began, answer.status, wanted)
        return answer

    def _note(self, began, status, wanted):
        outcome = 'ok'
        if status in (0, *range(500, 600)):
            outcome = 'failed'
        elif status != wanted and status != http.client.OK:
            outcome = 'refused'
        self.requests.append(Request(began, time.monotonic(), outcome))
