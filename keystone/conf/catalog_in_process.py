# SPDX-License-Identifier: Apache-2.0

"""Options of the in-process copy of the catalog."""

from oslo_config import cfg

from keystone.conf import utils

in_process_size = cfg.IntOpt(
    'in_process_size',
    default=32,
    min=0,
    help=utils.fmt(
        """
Maximum memory (in MiB) that each worker process uses to keep the services and
endpoints of the catalog, and the subset of them visible to each project. User
and project catalogs are built from this copy, so their cost does not grow with
the number of users and projects, and a catalog can exceed the item size limit
of memcached. 1,000 endpoints take 1.1 MiB, and twice as much while a changed
catalog is being read; a project takes about 300 bytes. Above this limit, the
data of projects is evicted first. A catalog that exceeds the limit by itself
is not kept. A change made through Keystone is visible immediately to all
processes that share the cache; other processes may use the old catalog for up
to `[catalog] cache_time`. If set to 0, the catalog of each user and project is
read from the database and stored in the shared cache. This has no effect
unless global and catalog caching are both enabled and `[catalog] driver` is
`sql`.
"""
    ),
)

GROUP_NAME = 'catalog'
ALL_OPTS = [in_process_size]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
