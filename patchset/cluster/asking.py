# SPDX-License-Identifier: Apache-2.0

"""Requests about tokens, to a node or to HAProxy."""

import http.client

from patchset.walk import node

_DEFAULT = {'domain': {'id': 'default'}}


def balancer(cluster):
    """HAProxy of a cluster, for requests: a :class:`patchset.walk.node.Node`.

    :param cluster: a running :class:`patchset.cluster.cluster.Cluster`
    """
    return node.Node('HAProxy', lambda: cluster.balancer.port)


def nodes(cluster):
    """The same of each node, past HAProxy: a list."""
    return [
        node.Node(one.name, lambda one=one: one.port) for one in cluster.nodes
    ]


def login(password):
    """Body of a request for a token of the admin: a dict."""
    user = {'name': 'admin', 'password': password, **_DEFAULT}
    return {
        'auth': {
            'identity': {'methods': ['password'], 'password': {'user': user}},
            'scope': {'project': {'name': 'admin', **_DEFAULT}},
        }
    }


def token(one, password):
    """Have a token of the admin issued by a node.

    :returns: the token; None if it was not
    """
    answer = one.ask('POST', '/auth/tokens', body=login(password))
    return answer.headers.get('x-subject-token')


def validate(one, caller, subject):
    """Status of the answer of a node about a token; 0 for no answer."""
    headers = {'X-Subject-Token': subject}
    return one.ask('GET', '/auth/tokens', caller, headers=headers).status


def revoke(one, caller, subject):
    """Revoke a token at a node.

    :returns: whether it says that this is done
    """
    headers = {'X-Subject-Token': subject}
    answer = one.ask('DELETE', '/auth/tokens', caller, headers=headers)
    return answer.status == http.client.NO_CONTENT
