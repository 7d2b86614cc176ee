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

"""The experiments by name, in the order in which all of them are run.

Each module has a ``QUESTION``, a function ``run`` that takes a
:class:`bench.plan.Plan` and returns points, and a function ``text`` that
makes a table of them. Their chart is the function of the same name in
:mod:`bench.charts`. Those that need nothing but the API have a function
``footprint``: of a scale, how many tokens it issues, and how many it revokes.
"""

import json

from bench import catalog
from bench import formats
from bench import living
from bench import memory
from bench import mixed
from bench import prune
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
    'rotation': rotation,
    'living': living,
    'services': services,
    'memory': memory,
    'rally': rally,
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
