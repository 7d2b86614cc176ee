# SPDX-License-Identifier: Apache-2.0

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
