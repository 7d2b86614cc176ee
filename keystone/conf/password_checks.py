# SPDX-License-Identifier: Apache-2.0

"""Options for remembering verified passwords."""

from oslo_config import cfg

from keystone.conf import utils

password_check_cache_time = cfg.IntOpt(
    'password_check_cache_time',
    default=0,
    min=0,
    max=3600,
    help=utils.fmt(
        """
Time, in seconds, for which each process remembers that a password, or the
secret of an application credential, matched its stored hash. Further logins
with it do not compute the hash during this time. Computing the hash takes most
of the time of a login. Set this option, for example to 60, if services such as
RadosGW log in for each request. The stored hash and the state of the user are
still read from the database for each login, so that a changed password or a
disabled or locked user is rejected immediately. The hash of a wrong password
is always computed. Processes keep at most 10,000 keyed digests, in their own
memory only. An attacker who can read this memory can guess these passwords
much faster than from the stored hashes. 0 disables this. This option does not
depend on `[cache] enabled`, and does not affect LDAP users.
"""
    ),
)

GROUP_NAME = 'identity'
ALL_OPTS = [password_check_cache_time]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
