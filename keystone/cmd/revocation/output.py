# SPDX-License-Identifier: Apache-2.0

"""Atomic replacement of files."""

import os
import tempfile

_FOR_ALL = 0o644


def replace(path: str, text: str) -> None:
    """Replace a file atomically; the new file is world-readable.

    :raises OSError: the directory is not writable
    """
    folder, name = os.path.split(os.path.abspath(path))
    # Without the suffix .prom, so that the textfile collector ignores it.
    number, temporary = tempfile.mkstemp(prefix=f'.{name}.', dir=folder)
    try:
        with open(number, 'w') as file:
            file.write(text)
        os.chmod(temporary, _FOR_ALL)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
