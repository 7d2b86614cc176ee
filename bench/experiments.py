# SPDX-License-Identifier: Apache-2.0

"""The experiments by name, in the order in which ``all`` runs them.

Each module has a ``TITLE``, a function ``run`` that takes a
:class:`bench.plan.Plan` and returns points, and a function ``text`` that
renders them as a table. The chart is the function of the same name in
:mod:`bench.charts`. Experiments that only require the API have a function
``footprint``, which returns how many tokens they issue and revoke at a scale.
``PACKAGES`` is the profile of bindep.txt that only this experiment requires.
"""

import json

from bench import catalog
from bench import faults
from bench import formats
from bench import living
from bench import memory
from bench import mixed
from bench import propagation
from bench import prune
from bench import radosgw
from bench import rally
from bench import revocations
from bench import rotation
from bench import s3
from bench import services
from bench import tokens
from bench import warm

ALL = {
    'tokens': tokens,
    'revocations': revocations,
    'mixed': mixed,
    'prune': prune,
    'warm': warm,
    'catalog': catalog,
    'formats': formats,
    's3': s3,
    'radosgw': radosgw,
    'rotation': rotation,
    'living': living,
    'services': services,
    'memory': memory,
    'rally': rally,
    'propagation': propagation,
    'faults': faults,
}


def results(folder):
    """What a folder has, in the order of the experiments.

    :param folder: path of a folder that ``./ks bench`` has written to
    :returns: list of (path, dict)
    """
    found = [
        (path, json.loads(path.read_text()))
        for path in sorted(folder.glob('*.json'))
    ]
    order = list(ALL)
    return sorted(found, key=lambda one: order.index(one[1]['experiment']))


def of_api():
    """Names of those that can measure an existing Keystone."""
    return [name for name in ALL if hasattr(ALL[name], 'footprint')]
