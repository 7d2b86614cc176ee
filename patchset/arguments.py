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

"""Arguments that several commands share."""

from patchset import pins


def add_release(parser, new=False):
    """Add ``--release``; :func:`pin` reads it.

    :param new: whether a release that is not there yet makes sense
    """
    known = ', '.join(pins.releases())
    parser.add_argument(
        '--release',
        metavar='R',
        default=pins.newest(),
        help=f'OpenStack release, one of: {known}'
        f'{", or a new one" if new else ""} (default: %(default)s)',
    )


def add_stock(parser):
    """Add ``--stock``."""
    parser.add_argument(
        '--stock',
        action='store_true',
        help='use upstream as it is, without the patch set',
    )


def pin(args):
    """The pin of the release that the arguments name."""
    return pins.load(args.release)
