# SPDX-License-Identifier: Apache-2.0

"""Options of the copy of the catalog in each process."""

from oslo_config import cfg

from keystone.conf import utils

in_process_size = cfg.IntOpt(
    'in_process_size',
    default=32,
    min=0,
    help=utils.fmt(
        """
Maximum memory (in MiB) in which each worker process keeps the services and
endpoints of the catalog, and which of them each project is to see. The
catalogs of users and projects are made from these, so that their cost does not
depend on the number of users and projects, and catalogs may be larger than the
item limit of memcached. 1,000 endpoints take 1.5 MiB, and twice that while a
changed catalog is read; a project takes some 300 bytes. Over this size,
projects are dropped first; a catalog that is larger by itself is not kept. A
change through Keystone is seen at once by each process that shares the cache;
otherwise a process goes on with the old catalog for `[catalog] cache_time` at
the longest. With 0, the catalog of each user and project is read from the
database and kept in the shared cache. This has no effect unless global and
catalog caching are both enabled, and `[catalog] driver` is `sql`.
"""
    ),
)

GROUP_NAME = 'catalog'
ALL_OPTS = [in_process_size]


def register_opts(conf):
    conf.register_opts(ALL_OPTS, group=GROUP_NAME)


def list_opts():
    return {GROUP_NAME: ALL_OPTS}
