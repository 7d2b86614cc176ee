# SPDX-License-Identifier: Apache-2.0

"""Files that other programs read while they are replaced."""

import os
import tempfile

_FOR_ALL = 0o644


def replace(path: str, text: str) -> None:
    """Replace a file in one step: a reader sees the old text or the new one.

    :param path: the file, which every user may read afterwards
    :param text: its new content
    :raises OSError: its folder cannot be written to
    """
    folder, name = os.path.split(os.path.abspath(path))
    # Not *.prom: the textfile collector ignores it.
    number, temporary = tempfile.mkstemp(prefix=f'.{name}.', dir=folder)
    try:
        with open(number, 'w') as file:
            file.write(text)
        os.chmod(temporary, _FOR_ALL)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
