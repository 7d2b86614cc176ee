# SPDX-License-Identifier: Apache-2.0

"""The directive ``ks-releases``: a table of the maintained releases.

It is read from the pins and the series: versions, number of topics, and
what each release goes without.
"""

import generated

from patchset import pins
from patchset import series

HEAD = """\
.. list-table::
   :header-rows: 1

   * - Release
     - Keystone
     - Topics
     - Goes without
"""


def table():
    """The table in reStructuredText, as lines."""
    lines = HEAD.splitlines()
    for release in reversed(pins.releases()):
        lines += [
            f'   * - {release}',
            f'     - {pins.load(release).version}',
            f'     - {len(series.load(release))}',
        ]
        without = series.without(release)
        said = [
            f':doc:`{name} <../topics/{name}>`: {reason}'
            for name, reason in sorted(without.items())
        ]
        lines.append(f'     - {said[0] if said else "—"}')
        for one in said[1:]:
            lines += ['', f'       {one}']
    return lines


class Releases(generated.Generated):
    """The table."""

    def lines(self):
        """The table in reStructuredText."""
        return table()

    def sources(self):
        """The pins and the series."""
        for release in pins.releases():
            folder = series.paths.PATCHES / release
            yield folder / 'UPSTREAM'
            for stack in series.STACKS:
                yield folder / stack / 'series'


def setup(application):
    """Register the directive with Sphinx."""
    application.add_directive('ks-releases', Releases)
    return {'parallel_read_safe': True}
