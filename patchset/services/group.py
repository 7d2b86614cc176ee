# SPDX-License-Identifier: Apache-2.0

"""Several servers that start and stop together."""

import contextlib


class Group:
    """A context manager of servers.

    Subclasses start them in ``_start``, each entered into ``_stack``. If one
    does not start, those before it are stopped.
    """

    def __init__(self):
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _start(self):
        raise NotImplementedError
