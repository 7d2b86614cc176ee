# SPDX-License-Identifier: Apache-2.0

"""Atomic replacement of files."""

import os
import tempfile


def replace(path: str, text: str, mode: int) -> None:
    """Replace a file atomically.

    :param mode: permissions of the new file
    :raises OSError: the directory is not writable
    """
    folder, name = os.path.split(os.path.abspath(path))
    # Without a suffix such as .prom, so that programs ignore it.
    number, temporary = tempfile.mkstemp(prefix=f'.{name}.', dir=folder)
    try:
        with open(number, 'w') as file:
            os.fchmod(number, mode)
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
