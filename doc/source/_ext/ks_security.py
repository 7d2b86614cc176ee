# SPDX-License-Identifier: Apache-2.0

"""The directive ``ks-security``: the topics that close a security hole.

It is read from the release notes and the series: topics whose note has a
section ``security``, and the releases that have them.
"""

import generated

from patchset import export
from patchset import paths

HEAD = """\
.. list-table::
   :header-rows: 1

   * - Topic
     - Subject
     - Releases
"""


def table():
    """The table in reStructuredText, as lines."""
    lines = HEAD.splitlines()
    for name, (subject, releases) in export.security_by_topic().items():
        lines += [
            f'   * - :doc:`{name} <../topics/{name}>`',
            f'     - {subject}',
            f'     - {", ".join(releases)}',
        ]
    return lines


class Security(generated.Generated):
    """The table."""

    def lines(self):
        """The table in reStructuredText."""
        return table()

    def sources(self):
        """The release notes and the series."""
        for pattern in (
            'releasenotes/notes/*.yaml', 'patches/*/series',
            'patches/*/*.patch',
        ):  # fmt: skip
            yield from paths.ROOT.glob(pattern)


def setup(application):
    """Register the directive with Sphinx."""
    application.add_directive('ks-security', Security)
    return {'parallel_read_safe': True}
