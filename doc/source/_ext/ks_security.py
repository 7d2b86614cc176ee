# SPDX-License-Identifier: Apache-2.0

"""The directive ``ks-security``: the topics that close a security hole.

It is read from the release notes and the series: topics whose note has a
section ``security``, and the releases that have them.
"""

from docutils import nodes
from docutils import statemachine
from docutils.parsers import rst

from patchset import embargo
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
    for name, (subject, releases) in embargo.by_topic().items():
        lines += [
            f'   * - :doc:`{name} <../topics/{name}>`',
            f'     - {subject}',
            f'     - {", ".join(releases)}',
        ]
    return lines


class Security(rst.Directive):
    """The table."""

    def run(self):
        """Make the nodes."""
        record = self.state.document.settings.record_dependencies.add
        for pattern in (
            'releasenotes/notes/*.yaml', 'patches/*/series',
            'patches/*/*.patch',
        ):  # fmt: skip
            for path in paths.ROOT.glob(pattern):
                record(str(path))
        node = nodes.container()
        self.state.nested_parse(
            statemachine.StringList(table(), 'release notes'), 0, node
        )
        return [node]


def setup(application):
    """Register the directive with Sphinx."""
    application.add_directive('ks-security', Security)
    return {'parallel_read_safe': True}
