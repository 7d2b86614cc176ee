# SPDX-License-Identifier: Apache-2.0

"""What directives have in common whose text comes from the code."""

from docutils import nodes
from docutils import statemachine
from docutils.parsers import rst


class Generated(rst.Directive):
    """A directive that stands for lines of reStructuredText."""

    def lines(self):
        """The lines."""
        raise NotImplementedError

    def sources(self):
        """Paths of the files that they are made from."""
        raise NotImplementedError

    def run(self):
        """Create the nodes; a changed source rebuilds the page."""
        for path in self.sources():
            self.state.document.settings.record_dependencies.add(str(path))
        node = nodes.container()
        lines = statemachine.StringList(self.lines(), self.name)
        self.state.nested_parse(lines, 0, node)
        return [node]
