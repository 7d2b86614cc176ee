# SPDX-License-Identifier: Apache-2.0

import threading
import uuid

from oslo_cache import core as oslo_cache

from keystone.common.cache import core
from keystone.common.cache import shared
from keystone.tests import unit


class RegionIdTests(unit.BaseTestCase):
    def setUp(self):
        super().setUp()
        ids = oslo_cache.create_region()
        ids.configure('dogpile.cache.memory')
        name = uuid.uuid4().hex
        self.manager = core.RegionInvalidationManager(ids, name)
        self.other = core.RegionInvalidationManager(ids, f'{name} too')

    def test_ids_have_no_tag_by_default(self):
        self.assertEqual(b'', shared.tag_of(self.manager.region_id))

    def test_tag_is_read_with_the_next_id(self):
        first = self.manager.region_id
        shared.put_tag(self.manager, b'42')

        self.manager.invalidate_region()

        self.assertNotEqual(first, self.manager.region_id)
        self.assertEqual(b'42', shared.tag_of(self.manager.region_id))
        self.assertEqual(b'', shared.tag_of(self.other.region_id))

    def test_ids_stay_random(self):
        shared.put_tag(self.manager, b'42')
        ids = {self.manager.invalidate_region() for _ in range(9)}
        self.assertEqual(9, len(ids))

    def test_other_threads_append_no_tag(self):
        shared.put_tag(self.manager, b'42')

        thread = threading.Thread(target=self.manager.invalidate_region)
        thread.start()
        thread.join()

        self.assertEqual(b'', shared.tag_of(self.manager.region_id))


class SharedTests(unit.TestCase):
    def test_by_backend(self):
        for backend, expected in (
            ('dogpile.cache.memory', False),
            ('dogpile.cache.null', False),
            ('dogpile.cache.pymemcache', True),
            ('dogpile.cache.redis', True),
        ):
            self.config_fixture.config(
                group='cache', enabled=True, backend=backend
            )
            self.assertEqual(expected, shared.is_shared(), backend)

    def test_not_where_caching_is_off(self):
        self.config_fixture.config(
            group='cache', enabled=False, backend='dogpile.cache.redis'
        )
        self.assertFalse(shared.is_shared())
