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

"""One writer at a time of what is below the build folder."""

import contextlib
import fcntl

from patchset import progress


@contextlib.contextmanager
def exclusive(path):
    """Hold the lock of a file or folder, waiting for its holder if need be.

    The lock file stands beside it, so that all who share it agree.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.parent / f'.{path.name}.lock', 'w') as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.step(f'waiting for another ./ks that makes {path.name}')
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
