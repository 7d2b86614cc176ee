# SPDX-License-Identifier: Apache-2.0

"""A cache that other processes use as well, as far as Keystone can tell."""

import contextlib

from dogpile.cache.backends import memory
from dogpile.cache import region as dogpile_region
import fixtures
from oslo_utils import importutils

from keystone import assignment
from keystone import catalog
from keystone.common import cache
from keystone.common.cache import after_write
from keystone.common.cache import lifetimes
from keystone.common.cache import proxy
from keystone import identity
from keystone import receipt
from keystone import revoke
from keystone import token

# Of later topics.
_idp_enabled = importutils.try_import('keystone.federation.idp_enabled')
_validation_cache = importutils.try_import(
    'keystone.token.validation_cache.cache'
)

REGIONS = [
    cache.CACHE_INVALIDATION_REGION,
    cache.CACHE_REGION,
    catalog.COMPUTED_CATALOG_REGION,
    assignment.COMPUTED_ASSIGNMENTS_REGION,
    revoke.REVOKE_REGION,
    token.provider.TOKENS_REGION,
    receipt.provider.RECEIPTS_REGION,
    identity.ID_MAPPING_REGION,
]
if _idp_enabled is not None:
    REGIONS.append(_idp_enabled.REGION)

BACKEND = 'keystone.tests.shared_memory'


class SharedMemory(memory.MemoryBackend):
    """A dictionary that all regions share, as they share a server."""

    values: dict = {}

    def __init__(self, arguments):
        super().__init__({**arguments, 'cache_dict': self.values})


dogpile_region.register_backend(
    BACKEND, 'keystone.tests.unit.ksfixtures.shared_cache', 'SharedMemory'
)


class SharedCache(fixtures.Fixture):
    """Has all regions keep their values in one dictionary.

    :param config: the :class:`oslo_config.fixture.Config` of the test
    """

    def __init__(self, config):
        super().__init__()
        self._config = config

    def _setUp(self):
        SharedMemory.values.clear()
        # For those who ask whether it is shared.
        self._config.config(group='cache', backend='dogpile.cache.memcached')
        for region in REGIONS:
            self.addCleanup(vars(region).update, vars(region).copy())
            del region.backend
            region.configure(BACKEND, expiration_time=600)
            if region is not cache.CACHE_INVALIDATION_REGION:
                _attach(region)
        forget_records()


def _attach(region):
    """Finish a region as keystone.common.cache does."""
    manager = proxy.attach(
        region,
        cache.RegionInvalidationManager(
            cache.CACHE_INVALIDATION_REGION, region.name
        ),
    )
    region.key_mangler = cache.key_mangler_factory(manager, None)
    region.region_invalidator = cache.DistributedInvalidationStrategy(manager)
    lifetimes.keep_in_keys(region)
    region.wrap(after_write.Proxy)


def forget_in_process():
    """Stand for a process that has answered nothing yet."""
    if _validation_cache is not None:
        _validation_cache.RECORDS.clear()


def forget_records():
    """Have each record made by the next request that needs it."""
    forget_in_process()
    for key in list(SharedMemory.values):
        if key.startswith('keystone.record.'):
            del SharedMemory.values[key]


@contextlib.contextmanager
def no_records(config):
    """Have requests answered past all records."""
    size = config.conf.token.validation_cache_size
    config.config(group='token', validation_cache_size=0)
    try:
        yield
    finally:
        config.config(group='token', validation_cache_size=size)
