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

"""Package metadata of a tree, so that its entry points can be found."""

import sys

from patchset import process

_SETUP = 'import setuptools; setuptools.setup(pbr=True)'


def pbr_variables(version):
    """Variables under which pbr takes a version and asks git for nothing."""
    return {
        'PBR_VERSION': version,
        'SKIP_GENERATE_AUTHORS': '1',
        'SKIP_GENERATE_RENO': '1',
        'SKIP_WRITE_GIT_CHANGELOG': '1',
    }


def write(tree, version):
    """Write ``keystone.egg-info`` of a tree anew."""
    process.run(
        [sys.executable, '-c', _SETUP, '--quiet', 'egg_info'],
        cwd=tree,
        env=pbr_variables(version),
        what='reading the package metadata',
    )
