# SPDX-License-Identifier: Apache-2.0

"""Options of rotating Fernet keys."""

from oslo_config import cfg

from keystone.conf import utils

refuse_unsafe_rotation = cfg.BoolOpt(
    'refuse_unsafe_rotation',
    default=False,
    help=utils.fmt(
        """
Let `keystone-manage fernet_rotate`, `token_rotate`, `receipt_rotate` and
`credential_rotate` refuse a rotation that deletes a key whose tokens can still
be accepted, or that another node is not ready for, as with their option
`--safe`. Their option `--no-safe` rotates nevertheless.
"""
    ),
)

expected_nodes = cfg.IntOpt(
    'expected_nodes',
    default=0,
    min=0,
    help=utils.fmt(
        """
Number of nodes that sign with the keys of this one, itself included. A safe
rotation is refused while fewer of them have reported their keys in the last
ten minutes. With 0, those that have reported while tokens they signed can be
accepted are expected. Nodes report through the shared cache: set 1 where there
is one node and none, as a safe rotation is always refused otherwise.
"""
    ),
)

key_history = cfg.StrOpt(
    'key_history',
    help=utils.fmt(
        """
Directory in which this node records when each of its keys has signed, and for
how long. It must be writable by the user that runs Keystone, and must not be
shared by nodes or replaced when keys are distributed. The default is the
directory `.history` in each key repository.
"""
    ),
)

GROUP_NAME = 'fernet_tokens'
ALL_OPTS = [refuse_unsafe_rotation, expected_nodes, key_history]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
