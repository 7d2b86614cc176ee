# SPDX-License-Identifier: Apache-2.0

"""The admin's environment, as an openrc and as a clouds.yaml."""

import json
import os
import shlex
import tempfile


def credentials(url, password):
    """Variables that the OpenStack clients read.

    :param url: the API's address, version included
    """
    return {
        'OS_AUTH_TYPE': 'password',
        'OS_AUTH_URL': url,
        'OS_IDENTITY_API_VERSION': '3',
        'OS_USERNAME': 'admin',
        'OS_PASSWORD': password,
        'OS_USER_DOMAIN_NAME': 'Default',
        'OS_PROJECT_NAME': 'admin',
        'OS_PROJECT_DOMAIN_NAME': 'Default',
        'OS_REGION_NAME': 'RegionOne',
    }


def exports(variables):
    """Lines for a shell that set the variables."""
    return [
        f'export {name}={shlex.quote(value)}'
        for name, value in variables.items()
    ]


def openrc(variables):
    """Text of an openrc file."""
    return '\n'.join(exports(variables)) + '\n'


def clouds(variables, name):
    """Text of a clouds.yaml with one cloud.

    JSON is YAML, whatever the password contains.
    """
    account = {
        'auth_url': 'OS_AUTH_URL',
        'username': 'OS_USERNAME',
        'password': 'OS_PASSWORD',
        'user_domain_name': 'OS_USER_DOMAIN_NAME',
        'project_name': 'OS_PROJECT_NAME',
        'project_domain_name': 'OS_PROJECT_DOMAIN_NAME',
    }
    cloud = {
        'auth': {key: variables[account[key]] for key in account},
        'region_name': variables['OS_REGION_NAME'],
        'identity_api_version': 3,
    }
    return json.dumps({'clouds': {name: cloud}}, indent=2) + '\n'


def write_private(path, text):
    """Put a file of mode 0600 in the place of an older one, all at once."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix='.new-')
    try:
        with open(handle, 'w') as target:
            target.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
