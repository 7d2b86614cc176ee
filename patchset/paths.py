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

"""Where things stand in the repository and in its ignored folders."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Everything made, as opposed to written, is below BUILD or DIST.
BUILD = pathlib.Path(os.environ.get('KS_BUILD_DIR', ROOT / 'build')).resolve()
DIST = ROOT / 'dist'
OVERLAY = ROOT / 'keystone'
NOTES = ROOT / 'releasenotes' / 'notes'
PATCHES = ROOT / 'patches'
REQUIREMENTS = ROOT / 'requirements'


def pristine(version):
    """Folder of the unpacked, untouched upstream source of ``version``."""
    return BUILD / 'upstream' / f'keystone-{version}'


def assembled(release):
    """Folder of the patched tree of ``release``, a git work tree."""
    return BUILD / release
