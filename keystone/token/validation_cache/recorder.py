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

"""What an application answers, while it is handed on."""


class Recorder:
    """A WSGI ``start_response`` that keeps what it is told.

    :param start_response: the server's
    """

    def __init__(self, start_response):
        self._start_response = start_response
        self.status = None
        self.headers = None
        self._is_written = False

    def __call__(self, status, headers, exc_info=None):
        self.status = status
        self.headers = list(headers)
        if exc_info:
            write = self._start_response(status, headers, exc_info)
        else:
            write = self._start_response(status, headers)
        return self._writer(write)

    def _writer(self, write):
        def wrapper(data):
            self._is_written = True
            return write(data)

        return wrapper

    @property
    def is_whole(self):
        """True if all of the body is in what the application returned."""
        return not self._is_written

    @staticmethod
    def collect(chunks):
        """Read a body to its end.

        :param chunks: what the application returned
        :returns: bytes
        """
        try:
            return b''.join(chunks)
        finally:
            close = getattr(chunks, 'close', None)
            if close is not None:
                close()
