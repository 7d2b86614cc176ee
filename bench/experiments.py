# SPDX-License-Identifier: Apache-2.0

"""The experiments by name, in the order in which ``all`` runs them.

What each of them does, and why, is described once for all readers, in
doc/source/reference/measurements.rst.

Each module has a ``TITLE``, a function ``run`` that takes a
:class:`bench.plan.Plan` and returns points, and a function ``text`` that
renders them as a table. A point is a dict with the values of some fields and,
for each side, a dict of results, mostly those of
:meth:`bench.runs.Runs.points`. The chart is the function of the same name in
:mod:`bench.charts` or :mod:`bench.bar_charts`. Experiments that only require
the API have a function ``footprint``, which returns the numbers of tokens that
they issue and revoke at a scale. ``PACKAGES`` is the profile of bindep.txt
that only this experiment requires.

Unless a module says otherwise, the sides alternate strictly, the patched rate
is divided by stock's of the same round, which is measured immediately before
it, and the results are medians of the rounds.
"""

import importlib
import json

ALL = {
    name: importlib.import_module(f'bench.{name}')
    for name in (
        'tokens', 'revocations', 'mixed', 'prune', 'warm', 'catalog',
        'formats', 's3', 'radosgw', 'rotation', 'living', 'services', 'memory',
        'endurance', 'rally', 'regions', 'propagation', 'faults',
    )
}  # fmt: skip


def results(folder):
    """The results in a folder, in the order of the experiments.

    :param folder: path of a folder written by ``./ks bench``
    :returns: list of (path, dict)
    """
    order = list(ALL)
    paths = sorted(folder.glob('*.json'))
    found = [(path, json.loads(path.read_text())) for path in paths]
    return sorted(found, key=lambda one: order.index(one[1]['experiment']))


def of_api():
    """Names of experiments that can measure an existing Keystone."""
    return [name for name in ALL if hasattr(ALL[name], 'footprint')]
