# SPDX-License-Identifier: Apache-2.0

"""The two trees of a release: as upstream made it, and patched."""

from patchset import assemble
from patchset import upstream


def get(pin, stock=False):
    """Return the folder of the pristine or of the assembled tree."""
    return upstream.ensure(pin) if stock else assemble.ensure(pin)
