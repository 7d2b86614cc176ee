# SPDX-License-Identifier: Apache-2.0

"""Rarer garbage collection, for tests that create an application each.

In a folder for the module path: Python runs this when it starts. A tenth of
the time of upstream's unit tests goes into looking for garbage among the
objects of their applications.
"""

import gc

gc.set_threshold(100_000, 20, 50)
