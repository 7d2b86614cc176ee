# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
