# SPDX-License-Identifier: Apache-2.0

"""The parts of ``./ks test``.

Each is a module whose docstring says what it runs. ``PACKAGES`` names the
profiles of ``bindep.txt`` that it needs, and ``run`` takes a
:class:`patchset.test_parts.Options` and returns a
:class:`patchset.test_parts.results.Result`.
"""

from collections.abc import Sequence
import dataclasses
import os

from patchset import pins


@dataclasses.dataclass(frozen=True)
class Options:
    """What a run of ``./ks test`` tells each part.

    The other fields are options of the command, whose help explains them.

    :param pin: the release under test
    :param expression: regular expression that test ids must match, or None
    """

    pin: pins.Pin
    stock: bool = False
    expression: str | None = None
    concurrency: int = len(os.sched_getaffinity(0))
    topics: Sequence[str] = ()
    record: bool = False
    seconds: int = 60
    seed: int = 1
    without: Sequence[str] = ()
    cache: str = 'shared'
    provider: str = 'fernet'
    database_url: str | None = None

    def label(self, part):
        """Name of a part's run, for files."""
        stock = '-stock' if self.stock else ''
        return f'{part}-{self.pin.release}{stock}'

    def chosen(self, topics):
        """Those topics of a series that the run is about, as a list."""
        return [
            topic
            for topic in topics
            if not self.topics or topic.name in self.topics
        ]
