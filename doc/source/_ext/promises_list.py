# SPDX-License-Identifier: Apache-2.0

"""The directive ``promises``: what the tempest plugin holds a cloud to.

It lists the options and the sentences of the plugin itself.
"""

from docutils import nodes
from docutils.parsers import rst

from revcache_tempest_plugin import promises


class Promises(rst.Directive):
    """A definition list: each option, and what is promised."""

    def run(self):
        """Make the list."""
        found = nodes.definition_list()
        for name, sentence in promises.PROMISES.items():
            found += nodes.definition_list_item(
                '',
                nodes.term('', '', nodes.literal(text=name)),
                nodes.definition('', nodes.paragraph(text=sentence)),
            )
        return [found]


def setup(application):
    """Register the directive with Sphinx."""
    application.add_directive('promises', Promises)
    return {'parallel_read_safe': True}
