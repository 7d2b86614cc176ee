# SPDX-License-Identifier: Apache-2.0

"""Signs S3 requests with boto3, as a process in the environment with boto3.

On standard input, as JSON: ``url`` of the server, a ``bucket``, ``keys`` (list
of [access key, secret]), the ``kinds`` of requests, and the number of each
(``count``); the keys are used in turn. With ``create``, the bucket and its
objects are created first. The output, as JSON, is the list of paths with
queries for each kind.

Requests are signed in advance because boto3 would use more CPU time than the
measured servers. No two signatures are equal.
"""

import json
import sys
import urllib.parse

import boto3
from botocore import config

OBJECTS = 10
BODY = 'x' * 1024
_OPERATIONS = {'get': 'get_object', 'put': 'put_object'}
_VALIDITY = 6 * 3600  # minimum validity of a signature in seconds


def main():
    """Sign requests as described for the module."""
    request = json.load(sys.stdin)
    clients = [client(request['url'], *key) for key in request['keys']]
    if request['create']:
        create(clients[0], request['bucket'])
    paths = {
        kind: sign(kind, clients, request['bucket'], request['count'])
        for kind in request['kinds']
    }
    json.dump(paths, sys.stdout)


def client(url, access, secret):
    """An S3 client that only sends and signs required headers."""
    return boto3.client(
        's3',
        endpoint_url=url,
        aws_access_key_id=access,
        aws_secret_access_key=secret,
        region_name='default',
        config=config.Config(
            signature_version='s3v4',
            s3={'addressing_style': 'path'},
            request_checksum_calculation='when_required',
            response_checksum_validation='when_required',
        ),
    )


def create(client, bucket):
    """Create the bucket, and the objects that are read and listed."""
    client.create_bucket(Bucket=bucket)
    for number in range(OBJECTS):
        client.put_object(Bucket=bucket, Key=f'object-{number}', Body=BODY)


def sign(kind, clients, bucket, count):
    """Paths of ``count`` requests of a kind: list of strings."""
    paths = []
    for number in range(count):
        parameters = {'Bucket': bucket}
        if kind in _OPERATIONS:
            parameters['Key'] = f'object-{number % OBJECTS}'
        operation = _OPERATIONS.get(kind, 'list_objects_v2')
        url = clients[number % len(clients)].generate_presigned_url(
            operation, parameters, _VALIDITY + number
        )
        parts = urllib.parse.urlsplit(url)
        paths.append(f'{parts.path}?{parts.query}')
    return paths


if __name__ == '__main__':
    main()
