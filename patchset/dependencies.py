# SPDX-License-Identifier: Apache-2.0

"""What the topics of a release depend on, and whether they say so."""

import ast
import re
import statistics

from patchset import assemble
from patchset import errors
from patchset import export
from patchset import series

# Maximum number of other topics that each topic of a stack may depend on,
# directly or not, and for the median of all topics. The fixes that upstream
# has since made are topics of earlier releases, and others depend on them.
LARGEST = {'base': 1, 'correctness': 2}
MEDIAN_OF_NEWEST, MEDIAN = 1, 2


def headers(topics):
    """Check what the ``Depends:`` trailers name.

    :raises patchset.errors.Error: a topic that is not there, comes later,
        closes a circle, or is of a stack that this one must not need
    """
    place = {topic.name: number for number, topic in enumerate(topics)}
    for topic in topics:
        for name in topic.depends:
            if name not in place:
                _refuse(topic, name, 'no such topic')
    for topic in topics:
        stacks = (topic.stack, *series.STACKS[topic.stack])
        for name in topic.depends:
            if topic.name in export.closure(topics, [name]):
                _refuse(topic, name, 'a circle')
            if place[name] > place[topic.name]:
                _refuse(topic, name, 'it comes later in the series')
            stack = topics[place[name]].stack
            if stack not in stacks:
                _refuse(topic, name, f'it is of the stack {stack}')


def _refuse(topic, name, why):
    raise errors.Error(f'{topic.path.name}: Depends: {name}: {why}')


def sizes(topics, is_newest):
    """Check how many others each topic depends on.

    :param is_newest: whether they are those of the newest release
    :raises patchset.errors.Error: more than :data:`LARGEST`, or than
        :data:`MEDIAN` for the median topic
    """
    found = {
        topic.name: len(export.closure(topics, [topic.name])) - 1
        for topic in topics
    }
    for topic in topics:
        largest = LARGEST.get(topic.stack, len(topics))
        if found[topic.name] > largest:
            raise errors.Error(
                f'{topic.name} depends on {found[topic.name]} topics; of '
                f'{topic.stack}, each may on {largest}'
            )
    median = statistics.median(found.values()) if found else 0
    largest_median = MEDIAN_OF_NEWEST if is_newest else MEDIAN
    if median > largest_median:
        raise errors.Error(
            f'the median topic depends on {median:g} others, more than '
            f'{largest_median}'
        )


def verify(tree, topics, temporary):
    """Check each topic on nothing but the topics that it depends on.

    There it must apply, and what its modules import from keystone must be
    there. Without one of them that is not so, or the trailer has a reason.

    :param tree: folder of the assembled tree
    :param topics: its topics, in order
    :param temporary: a folder to make clones in
    :raises patchset.errors.Error: a ``Depends:`` trailer is missing, or
        nothing needs it
    """
    clone = export.Clone(tree, topics, temporary)
    for topic in topics:
        _verify_on(clone, topic, export.closure(topics, [topic.name]))
        for name, reason in topic.reasons.items():
            others = [one for one in topic.depends if one != name]
            less = export.closure(topics, others) | {topic.name}
            if not reason and name not in less:
                try:
                    _verify_on(clone, topic, less)
                except errors.Error:
                    continue
                _refuse(
                    topic, name, 'neither imports nor hunks need it; drop it, '
                    'or give a reason: Depends: TOPIC (REASON)',
                )  # fmt: skip


def _verify_on(clone, topic, names):
    """Check a topic on top of others.

    :param names: names of those, and its own
    :raises patchset.errors.Error: it does not apply, or imports what is not
        there
    """
    clone.make(names)
    for module in modules(topic):
        for needed in imports(clone.folder / module):
            if not stands(clone.folder, needed):
                raise errors.Error(
                    f'{topic.name}: {module} imports {needed}, which no topic '
                    f'that it depends on has'
                )


def modules(topic):
    """Paths of the Python modules that a topic adds or changes."""
    changed = {name for name, _ in assemble.hunks(topic.diff)}
    return [
        name
        for name in sorted({*topic.adds, *changed})
        if name.startswith('keystone/') and name.endswith('.py')
    ]


def imports(path):
    """Dotted names that a module imports from keystone."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f'{node.module}.{alias.name}' for alias in node.names]
        yield from (name for name in names if name.startswith('keystone.'))


def stands(tree, name):
    """Whether a dotted name can be a module of a tree, or inside one."""
    path = tree / name.replace('.', '/')
    if path.is_dir() or path.with_suffix('.py').is_file():
        return True
    return any(
        module.is_file() and re.search(rf'\b{path.name}\b', module.read_text())
        for module in (
            path.parent.with_suffix('.py'),
            path.parent / '__init__.py',
        )
    )
