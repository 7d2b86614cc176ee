# SPDX-License-Identifier: Apache-2.0

"""What belongs to a wheel: its checksum, and a CycloneDX list of components.

https://cyclonedx.org/docs/1.5/json/ says what the fields mean.
"""

import json
import re
import urllib.parse
import uuid

from patchset import paths
from patchset import series
from patchset import upstream

_PINNED = re.compile(r'^([A-Za-z0-9._-]+)==(\S+)( ;)?')


def write(wheel, pin):
    """Write both beside the wheel; the same bytes each time.

    :param wheel: path of the wheel
    :param pin: the :class:`patchset.pins.Pin` that it was built from
    :returns: list of the paths written
    """
    digest = upstream.sha256(wheel)
    checksum = wheel.with_name(f'{wheel.name}.sha256')
    checksum.write_text(f'{digest}  {wheel.name}\n')
    bill = wheel.with_name(f'{wheel.name}.cdx.json')
    bill.write_text(json.dumps(components(digest, pin), indent=2) + '\n')
    return [checksum, bill]


def components(digest, pin):
    """The list: the wheel, where it is from, and the locked dependencies.

    :param digest: sha256 of the wheel
    :returns: a dict
    """
    subject = _component('keystone', pin.local_version)
    subject['hashes'] = _hashes(digest)
    subject['licenses'] = [{'license': {'id': 'Apache-2.0'}}]
    origin = _component('keystone', pin.version)
    origin['hashes'] = _hashes(pin.sha256)
    subject['pedigree'] = {
        'ancestors': [origin],
        'patches': [
            {
                'type': 'unofficial',
                'diff': {'url': str(topic.path.relative_to(paths.ROOT))},
            }
            for topic in series.load(pin.release)
        ],
    }
    others = list(_locked(pin))
    return {
        'bomFormat': 'CycloneDX',
        'specVersion': '1.5',
        'serialNumber': f'urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}',
        'version': 1,
        'metadata': {'component': subject},
        'components': others,
        'dependencies': [
            {
                'ref': subject['bom-ref'],
                'dependsOn': [one['bom-ref'] for one in others],
            }
        ],
    }


def _component(name, version):
    purl = f'pkg:pypi/{name}@{urllib.parse.quote(version)}'
    return {
        'type': 'library',
        'bom-ref': purl,
        'name': name,
        'version': version,
        'purl': purl,
    }


def _hashes(digest):
    return [{'alg': 'SHA-256', 'content': digest}]


def _locked(pin):
    lock = paths.REQUIREMENTS / pin.release / 'run.txt'
    for line in lock.read_text().splitlines():
        if match := _PINNED.match(line):
            one = _component(match[1].lower(), match[2])
            # Whether it is installed depends on the version of Python.
            one['scope'] = 'optional' if match[3] else 'required'
            yield one
