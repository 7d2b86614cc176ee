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
        help='Maximum time in seconds that a token may be accepted after the '
        'request that invalidated it has completed, and that old names, roles '
        'and catalogs may be shown. If set to 0, the next request must be '
        'correct.',
    ),
    cfg.IntOpt(
        'concurrency',
        default=8,
        min=2,
        help='Number of concurrent requests of the request_isolation test. '
        'Should not be less than the number of threads of a server process.',
    ),
    cfg.IntOpt(
        'requests',
        default=200,
        min=2,
        help='Total number of requests of the request_isolation test.',
    ),
    cfg.IntOpt(
        'revocations',
        default=500,
        min=4,
        help='Number of tokens that the validation_rate test issues and '
        'revokes. Their events stay in the database until they are pruned.',
    ),
    cfg.IntOpt(
        'validations',
        default=40,
        min=5,
        help='Number of tokens that the validation_rate test issues and '
        'validates for each point of the curve, of which the lower quartile '
        'is used.',
    ),
    cfg.FloatOpt(
        'rate_ratio',
        default=0.5,
        min=0,
        max=1,
        help='Required validation rate after these revocations, as a share of '
        'the initial rate. Values close to 1 fail on a busy cloud.',
    ),
    *(
        cfg.BoolOpt(name, default=True, help=sentence)
        for name, sentence in promises.PROMISES.items()
    ),
]
