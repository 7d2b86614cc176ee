# SPDX-License-Identifier: Apache-2.0

"""Sphinx configuration of the release notes."""

project = 'Keystone revocation and caching patch set release notes'
copyright = 'the authors of the patch set'
extensions = ['openstackdocstheme', 'reno.sphinxext']
html_theme = 'openstackdocs'
html_theme_options = {'display_badge': False}
html_static_path = ['../../doc/source/_static']
html_css_files = ['additions.css']
openstackdocs_auto_name = False
openstackdocs_auto_version = False
