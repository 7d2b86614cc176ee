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

"""Measure stock and patched Keystone side by side.

Both run at the same time on this machine, with the same MariaDB and a
memcached each, and take turns under the load of ApacheBench (loopback only).
What counts is the ratio of the two: absolute figures are this machine's.

experiments:
  revocations  validations per second against live revocation events
"""

import json
import pathlib
import platform

from bench import revocations
from patchset import arguments
from patchset import paths
from patchset import progress

HELP = 'measure stock and patched Keystone side by side'

EXPERIMENTS = {'revocations': revocations}


def add_arguments(parser):
    """Add this command's arguments."""
    arguments.add_release(parser)
    parser.add_argument('experiment', choices=sorted(EXPERIMENTS))
    parser.add_argument(
        '--scale',
        choices=('small', 'full'),
        default='small',
        help='small: a few minutes; full: up to 100,000 events of six kinds '
        '(default: %(default)s)',
    )
    parser.add_argument(
        '--no-token-caching',
        action='store_true',
        help='switch [token] caching off on both sides',
    )
    parser.add_argument(
        '--out',
        metavar='DIR',
        type=pathlib.Path,
        default=paths.BUILD / 'bench',
        help='folder of the results, as JSON (default: %(default)s)',
    )


def run(args):
    """Run one experiment, and write down what it gave."""
    pin = arguments.pin(args)
    args.out.mkdir(parents=True, exist_ok=True)
    caching = not args.no_token_caching
    points = EXPERIMENTS[args.experiment].run(pin, args.scale, caching)
    path = args.out / f'{args.experiment}-{pin.release}-{args.scale}.json'
    result = {
        'experiment': args.experiment,
        'release': pin.release,
        'version': pin.local_version,
        'scale': args.scale,
        'token_caching': caching,
        'machine': platform.platform(),
        'points': points,
    }
    path.write_text(json.dumps(result, indent=2) + '\n')
    progress.say(path)
