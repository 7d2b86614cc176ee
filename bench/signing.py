# SPDX-License-Identifier: Apache-2.0

"""Signed requests of S3 and EC2 clients, which do not expire."""

import base64
import hashlib
import hmac
import urllib.parse

_SCOPE = ('20261102', 'region', 's3', 'aws4_request')
_HOST, _PATH = 'cloud.example', '/'


def s3(access, secret):
    """Body of a request to /v3/s3tokens, signed by version 4.

    :param access: the access key
    :param secret: its secret
    :returns: dict
    """
    digest = hashlib.sha256(b'a request').hexdigest()
    text = '\n'.join(
        ('AWS4-HMAC-SHA256', '20261102T100000Z', '/'.join(_SCOPE), digest)
    )
    key = ('AWS4' + secret).encode()
    for part in _SCOPE:
        key = _sign(key, part)
    credentials = {
        'access': access,
        'signature': _sign(key, text).hex(),
        'token': base64.urlsafe_b64encode(text.encode()).decode(),
    }
    return {'credentials': credentials}


def ec2(access, secret):
    """Body of a request to /v3/ec2tokens, signed by version 2."""
    parameters = {
        'AWSAccessKeyId': access,
        'SignatureMethod': 'HmacSHA256',
        'SignatureVersion': '2',
    }
    query = urllib.parse.urlencode(parameters)
    text = '\n'.join(('GET', _HOST, _PATH, query))
    signature = base64.b64encode(_sign(secret.encode(), text)).decode()
    credentials = {
        'access': access,
        'signature': signature,
        'host': _HOST,
        'verb': 'GET',
        'path': _PATH,
        'params': parameters,
    }
    return {'credentials': credentials}


def _sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()
