# SPDX-License-Identifier: Apache-2.0

"""Signs S3 requests with boto3, as a process in an environment that has it.

On standard input, as JSON: ``url`` of the server, a ``bucket``, ``keys`` (list
of [access key, secret]), the ``kinds`` of requests, and the number of each
(``count``); the keys are used in turns. With ``make``, the bucket and its
objects are created first. The output, as JSON, is the list of paths with their
queries for each kind.

Requests are signed in advance because boto3 would use more CPU time than what
is measured. No two signatures are equal.
"""

import json
import sys
import urllib.parse

import boto3
from botocore import config

OBJECTS = 10
BODY = 'x' * 1024
_OPERATIONS = {'get': 'get_object', 'put': 'put_object'}
_LONG = 6 * 3600  # seconds that a signature is good for


def main():
    """Answer as the module says."""
    request = json.load(sys.stdin)
    clients = [client(request['url'], *key) for key in request['keys']]
    if request['make']:
        make(clients[0], request['bucket'])
    found = {
        kind: signed(kind, clients, request['bucket'], request['count'])
        for kind in request['kinds']
    }
    json.dump(found, sys.stdout)


def client(url, access, secret):
    """A client of S3 that sends and signs nothing but what it has to."""
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


def make(one, bucket):
    """Make the bucket, and the objects that are read and listed."""
    one.create_bucket(Bucket=bucket)
    for number in range(OBJECTS):
        one.put_object(Bucket=bucket, Key=f'object-{number}', Body=BODY)


def signed(kind, clients, bucket, count):
    """Paths of ``count`` requests of a kind: list of strings."""
    found = []
    for number in range(count):
        about = {'Bucket': bucket}
        if kind in _OPERATIONS:
            about['Key'] = f'object-{number % OBJECTS}'
        operation = _OPERATIONS.get(kind, 'list_objects_v2')
        one = clients[number % len(clients)]
        url = one.generate_presigned_url(operation, about, _LONG + number)
        parts = urllib.parse.urlsplit(url)
        found.append(f'{parts.path}?{parts.query}')
    return found


if __name__ == '__main__':
    main()
