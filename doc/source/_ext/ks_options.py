# SPDX-License-Identifier: Apache-2.0

"""The directive ``ks-options``: every option that the patch set adds.

They are read from the modules below ``keystone/conf/`` of the overlay, without
importing these: that would need upstream's tree.
"""

import ast
import collections
import textwrap

import generated

from patchset import paths

_TYPES = {
    'BoolOpt': 'true or false',
    'HostAddressOpt': 'address of a host',
    'IntOpt': 'integer',
    'PortOpt': 'port number',
    'StrOpt': 'text',
}
_BOUNDS = {'min': 'at least', 'max': 'at most'}


def modules():
    """Paths of the modules with options, in order."""
    return sorted((paths.ROOT / 'keystone' / 'conf').glob('*.py'))


def options(source):
    """The options of one module.

    :param source: text of the module
    :returns: the section's name, None if it is that of the module, and the
        calls of ``cfg``, as ``ast`` has them
    """
    section, calls = None, []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign):
            if node.targets[0].id == 'GROUP_NAME':
                # Or else it is the module's own name.
                if isinstance(node.value, ast.Constant):
                    section = node.value.value
            elif _is_option(node.value):
                calls.append(node.value)
    return section, calls


def _is_option(value):
    return isinstance(value, ast.Call) and (
        getattr(value.func, 'attr', None) in _TYPES
    )


def entry(call):
    """Lines of reStructuredText on one option."""
    given = {one.arg: one.value for one in call.keywords}
    facts = [_TYPES[call.func.attr]]
    facts += [
        f'{words} {ast.unparse(given[name])}'
        for name, words in _BOUNDS.items()
        if name in given
    ]
    default = 'none'
    if 'default' in given:
        default = ast.unparse(given['default'])
    lines = [f'``{call.args[0].value}``']
    lines.append(f'   *{", ".join(facts)}; default:* ``{default}``')
    lines.append('')
    (text,) = given['help'].args
    # Upstream's mark-up of options is what reStructuredText has for titles.
    text = text.value.strip().replace('`', '``')
    lines += textwrap.indent(text, '   ').splitlines()
    return [*lines, '']


def page():
    """Lines of reStructuredText on all of them, by section."""
    sections = collections.defaultdict(list)
    for path in modules():
        section, calls = options(path.read_text(encoding='utf-8'))
        for call in calls:
            sections[section or path.stem] += entry(call)
    lines = []
    for section, entries in sorted(sections.items()):
        lines += [f'.. rubric:: [{section}]', '', *entries]
    return lines


class Options(generated.Generated):
    """The options."""

    def lines(self):
        """All of them in reStructuredText."""
        return page()

    def sources(self):
        """The modules that have them."""
        return modules()


def setup(application):
    """Register the directive with Sphinx."""
    application.add_directive('ks-options', Options)
    return {'parallel_read_safe': True}
