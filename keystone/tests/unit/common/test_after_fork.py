# SPDX-License-Identifier: Apache-2.0

import gc
import os

from keystone.common import after_fork
from keystone.tests import unit


class Counter:
    def __init__(self):
        self.calls = 0

    def add(self):
        self.calls += 1


class AfterForkTests(unit.BaseTestCase):
    def calls_in_a_child(self, counter):
        """How often a forked process has called the counter, at once."""
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.write(writer, b'%d' % counter.calls)
            os._exit(0)
        os.close(writer)
        with open(reader, 'rb') as result:
            calls = int(result.read())
        os.waitpid(child, 0)
        return calls

    def test_called_in_the_forked_process_again(self):
        counter = Counter()
        after_fork.call_now_too(counter.add)

        self.assertEqual(2, self.calls_in_a_child(counter))
        self.assertEqual(1, counter.calls)

    def test_objects_are_not_kept_alive(self):
        calls = []

        class Short:
            def add(self):
                calls.append(1)

        after_fork.call_now_too(Short().add)
        gc.collect()
        after_fork.run()

        self.assertEqual([1], calls)
