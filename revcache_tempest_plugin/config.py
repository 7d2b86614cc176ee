# SPDX-License-Identifier: Apache-2.0

"""Options of the plugin: what the cloud under test promises."""

from oslo_config import cfg

from revcache_tempest_plugin import promises

group = cfg.OptGroup(
    name='revcache', title='Promises of the Identity service under test'
)

options = [
    cfg.IntOpt(
        'staleness',
        default=0,
        min=0,
        help='Longest time, in seconds, that a token may still be accepted '
        'after the request that invalidated it has been answered, and that '
        'names, roles and catalogs of before may be shown. 0 means that the '
        'very next request tells the truth.',
    ),
    cfg.IntOpt(
        'concurrency',
        default=8,
        min=2,
        help='Requests kept under way at once by the test of '
        'request_isolation. With fewer than the threads of one server '
        'process, it finds less.',
    ),
    cfg.IntOpt(
        'requests',
        default=200,
        min=2,
        help='Requests made by the test of request_isolation. It finds only '
        'what goes wrong at least once in that many.',
    ),
    cfg.IntOpt(
        'revocations',
        default=500,
        min=4,
        help='Tokens that the test of validation_rate issues and revokes. '
        'Their events stay in the database until Keystone prunes them.',
    ),
    cfg.IntOpt(
        'validations',
        default=40,
        min=5,
        help='Tokens that the test of validation_rate issues and validates '
        'for each point of the curve; the lower quartile counts.',
    ),
    cfg.FloatOpt(
        'rate_ratio',
        default=0.5,
        min=0,
        max=1,
        help='Part of the rate of validations that must be left after that '
        'many revocations. It leaves room for the noise of a busy cloud; 1 '
        'leaves none.',
    ),
    *(
        cfg.BoolOpt(name, default=True, help=sentence)
        for name, sentence in promises.PROMISES.items()
    ),
]
