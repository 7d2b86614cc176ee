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


"""Sphinx configuration of the documentation."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'doc' / 'source' / '_ext')]

project = 'Keystone revocation and caching patch set'
copyright = 'the authors of the patch set'
extensions = [
    'bench_results',
    'ks_commands',
    'ks_releases',
    'openstackdocstheme',
    'promises_list',
    'reno.sphinxext',
]
exclude_patterns = ['_ext']
nitpicky = True
html_theme = 'openstackdocs'
html_theme_options = {'display_badge': False}
openstackdocs_auto_name = False
openstackdocs_auto_version = False
