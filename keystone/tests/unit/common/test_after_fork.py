# SPDX-License-Identifier: Apache-2.0

import gc
import os
import signal

from keystone.common import after_fork
from keystone.tests import unit


class Counter:
    def __init__(self):
        self.calls = 0

    def add(self):
        self.calls += 1


def in_forked_process(function):
    """Call a function in a forked process.

    :returns: its result as a string; '' if it raises or takes a minute
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(60)
            os.write(writer, str(function()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as result:
        answer = result.read()
    os.waitpid(child, 0)
    return answer


class AfterForkTests(unit.BaseTestCase):
    def test_called_in_the_forked_process_again(self):
        counter = Counter()
        after_fork.call_now_and_after_fork(counter.add)

        self.assertEqual('2', in_forked_process(lambda: counter.calls))
        self.assertEqual(1, counter.calls)

    def test_objects_are_not_kept_alive(self):
        calls = []

        class Short:
            def add(self):
                calls.append(1)

        after_fork.call_now_and_after_fork(Short().add)
        gc.collect()
        after_fork.run()

        self.assertEqual([1], calls)
