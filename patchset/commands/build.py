# SPDX-License-Identifier: Apache-2.0

"""Build the wheel that is installed over stock Keystone with pip.

The build is reproducible: the same inputs give the same bytes. The sha256 and
a list of components (CycloneDX 1.5) are written beside the wheel.
"""

import json
import os
import pathlib
import re
import shutil
import sys
import urllib.parse
import uuid

from patchset import assemble
from patchset import child
from patchset import git
from patchset import paths
from patchset import pins
from patchset import progress
from patchset import series
from patchset import upstream

_PINNED = re.compile(r'^([A-Za-z0-9._-]+)==(\S+)( ;)?')


def run(args):
    """Build, and print the paths written and the wheel's sha256."""
    pin = pins.load(args.release)
    path = wheel(assemble.ensure(pin), pin, paths.DIST)
    for one in (path, *describe(path, pin)):
        progress.say(f'{one}')
    progress.say(f'sha256 {upstream.sha256(path)}')


def wheel(tree, pin, folder):
    """Build the wheel of an assembled tree; the same bytes each time.

    :param tree: folder of the assembled tree
    :param pin: a :class:`patchset.pins.Pin`
    :param folder: where the wheel goes; one of the same name is replaced
    :returns: path of the wheel
    """
    epoch = git.git(tree, 'show', '-s', '--format=%ct').strip()
    os.umask(0o022)  # file modes are part of the bytes
    with paths.temporary() as temporary:
        # A clone holds what is committed and nothing that a test run left.
        clone = temporary / 'keystone'
        git.git(tree, 'clone', '--quiet', '--shared', '--no-tags', tree, clone)
        child.run(
            [
                sys.executable, '-m', 'pip', 'wheel', '--quiet', '--no-deps',
                '--disable-pip-version-check', '--no-build-isolation',
                '--wheel-dir', temporary / 'dist', clone,
            ],
            env={
                **assemble.pbr_variables(pin.local_version),
                'TMPDIR': temporary,
                'SOURCE_DATE_EPOCH': epoch,
                'PYTHONHASHSEED': '0',
            },
            what='building the wheel',
        )  # fmt: skip
        built = next((temporary / 'dist').glob('*.whl'))
        folder.mkdir(parents=True, exist_ok=True)
        return pathlib.Path(shutil.copy(built, folder))


def describe(path, pin):
    """Write the checksum and the components beside a wheel.

    The same bytes each time.

    :param path: of the wheel
    :param pin: the :class:`patchset.pins.Pin` that it was built from
    :returns: list of the paths written
    """
    digest = upstream.sha256(path)
    checksum = path.with_name(f'{path.name}.sha256')
    checksum.write_text(f'{digest}  {path.name}\n')
    bill = path.with_name(f'{path.name}.cdx.json')
    bill.write_text(json.dumps(components(digest, pin), indent=2) + '\n')
    return [checksum, bill]


def components(digest, pin):
    """The wheel, where it is from, and the locked dependencies.

    https://cyclonedx.org/docs/1.5/json/ says what the fields mean.

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
