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

"""Check the pin, the series, each patch, and the overlay of a release.

Each patch must apply exactly (no fuzz, no offset), be listed once, and name
its overlay files (Adds:) and the topics it needs (Depends:). No overlay file
may stand upstream. Each topic must import on the topics it depends on, and
assembling then refreshing must change nothing.
"""

from patchset import arguments
from patchset import check
from patchset import environment
from patchset import progress
from patchset import upstream

HELP = 'check pins, patches and overlay'


def add_arguments(parser):
    """Add this command's arguments."""
    arguments.add_release(parser)


def run(args):
    """Check, and print the size of the series."""
    pin = arguments.pin(args)
    source = upstream.ensure(pin)
    where = environment.Environment(pin.release, 'test').ensure()
    found = check.check(pin, source, where.python)
    progress.say(
        f'{pin.release}: {found.topics} topics; {found.changed} upstream '
        f'lines changed, {found.context} carried as context; '
        f'{found.overlay} lines of our own'
    )
