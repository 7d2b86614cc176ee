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
"""A service behind keystonemiddleware, for uWSGI to load.

The environment's variable SERVICE is a JSON object: the options of the
middleware auth_token. What passes it is answered with 200 and no more.
"""

import json
import os

from keystonemiddleware import auth_token


def answer(environ, start_response):
    """Answer any request."""
    start_response('200 OK', [('Content-Length', '3')])
    return [b'ok\n']


application = auth_token.filter_factory(
    {}, **json.loads(os.environ['SERVICE'])
)(answer)
