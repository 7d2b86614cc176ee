# SPDX-License-Identifier: Apache-2.0

"""Options of the rotation of Fernet keys."""

from oslo_config import cfg

from keystone.conf import utils

refuse_unsafe_rotation = cfg.BoolOpt(
    'refuse_unsafe_rotation',
    default=False,
    help=utils.fmt(
        """
Make `keystone-manage fernet_rotate`, `token_rotate`, `receipt_rotate` and
`credential_rotate` refuse a rotation that would delete a key whose tokens may
still be valid, or that another node is not ready for, as if `--safe` were
given. Use `--no-safe` to rotate anyway.
"""
    ),
)

expected_nodes = cfg.IntOpt(
    'expected_nodes',
    default=0,
    min=0,
    help=utils.fmt(
        """
Number of nodes that use the same keys, including this one. A safe rotation is
refused while fewer nodes have reported their keys within the last ten minutes.
If set to 0, every node that has reported is expected for as long as tokens
that it signed may be valid. Nodes report through the shared cache. Set this
option to 1 for a single node without a shared cache; otherwise a safe rotation
is always refused there.
"""
    ),
)

key_history = cfg.StrOpt(
    'key_history',
    help=utils.fmt(
        """
Directory in which this node records when and for how long each of its keys has
been used to sign. It must be writable by the user that runs Keystone, and must
not be shared between nodes or replaced when keys are distributed. Defaults to
`.history` in each key repository.
"""
    ),
)

GROUP_NAME = 'fernet_tokens'
ALL_OPTS = [refuse_unsafe_rotation, expected_nodes, key_history]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
