# SPDX-License-Identifier: Apache-2.0

"""Token requests to a node or to HAProxy."""

import http.client

from bench import credentials
from patchset.walk import node


def balancer(cluster):
    """HAProxy of a cluster, as a :class:`patchset.walk.node.Node`.

    :param cluster: a running :class:`patchset.cluster.cluster.Cluster`
    """
    return node.Node('HAProxy', lambda: cluster.balancer.port)


def nodes(cluster):
    """The nodes, each accessed directly: a list of the same objects."""
    return [
        node.Node(one.name, lambda one=one: one.port) for one in cluster.nodes
    ]


def token(one, account):
    """Issue a token at a node.

    :param account: variables of an openrc, such as those of the admin
    :returns: the token; None if the request failed
    """
    body = credentials.login(account)
    answer = one.ask('POST', '/auth/tokens', body=body)
    return answer.headers.get('x-subject-token')


def validate(one, caller, subject):
    """Status of the response to a validation; 0 if there is none."""
    headers = {'X-Subject-Token': subject}
    return one.ask('GET', '/auth/tokens', caller, headers=headers).status


def revoke(one, caller, subject):
    """Revoke a token at a node.

    :returns: whether the response is 204
    """
    headers = {'X-Subject-Token': subject}
    answer = one.ask('DELETE', '/auth/tokens', caller, headers=headers)
    return answer.status == http.client.NO_CONTENT
