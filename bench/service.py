# SPDX-License-Identifier: Apache-2.0

"""A service behind keystonemiddleware, loaded by uWSGI.

The environment variable SERVICE is a JSON object with the options of the
auth_token middleware. Requests that pass it have a response with status 200.
"""

import json
import os

from keystonemiddleware import auth_token


def respond(environ, start_response):
    """Respond to any request."""
    start_response('200 OK', [('Content-Length', '3')])
    return [b'ok\n']


application = auth_token.filter_factory(
    {}, **json.loads(os.environ['SERVICE'])
)(respond)
