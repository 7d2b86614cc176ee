# SPDX-License-Identifier: Apache-2.0

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
    'ks_options',
    'ks_releases',
    'ks_security',
    'openstackdocstheme',
    'promises_list',
    'reno.sphinxext',
]
exclude_patterns = ['_ext']
nitpicky = True
html_theme = 'openstackdocs'
html_theme_options = {'display_badge': False}
html_static_path = ['_static']
html_css_files = ['additions.css']
openstackdocs_auto_name = False
openstackdocs_auto_version = False
