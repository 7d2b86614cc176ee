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
