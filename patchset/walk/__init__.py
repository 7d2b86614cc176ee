# SPDX-License-Identifier: Apache-2.0

"""A random walk through what changes tokens; see :mod:`.walk`."""

from patchset.walk import operations

__all__ = ('operations',)
