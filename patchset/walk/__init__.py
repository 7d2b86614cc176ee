# SPDX-License-Identifier: Apache-2.0

"""A random walk through operations that affect tokens; see :mod:`.walk`."""

from patchset.walk import operations

__all__ = ('operations',)
