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

"""Write edits in the assembled tree back to patches/ and to the overlay.

build/RELEASE is a git work tree with one commit per topic. Edit it there and
commit (a new commit is a new topic), or leave the edits uncommitted and name
the topic that takes them.
"""

from patchset import arguments
from patchset import progress
from patchset import refresh

HELP = 'write edits in the assembled tree back to patches and overlay'


def add_arguments(parser):
    """Add this command's arguments."""
    arguments.add_release(parser)
    parser.add_argument(
        '--topic', help='topic that takes the uncommitted edits'
    )


def run(args):
    """Refresh, and print what changed."""
    changed = refresh.refresh(arguments.pin(args), args.topic)
    for name in changed:
        progress.say(name)
    if not changed:
        progress.say('nothing to refresh')
