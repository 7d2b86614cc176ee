# SPDX-License-Identifier: Apache-2.0

"""Loaded by each Python process whose clock libfaketime changes.

Python sleeps until a point in time. If that has passed, libfaketime 0.9.10
calculates a negative duration, and ``time.sleep(0)`` fails with EINVAL.
"""

import select
import time

time.sleep = lambda seconds: select.select([], [], [], seconds)
