# SPDX-License-Identifier: Apache-2.0

"""The admin's environment, as an openrc and as a clouds.yaml."""

import json
import shlex


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


def clouds(variables, *names):
    """Text of a clouds.yaml with one cloud, by one or more names.

    JSON is YAML, whatever the password contains.
    """
    keys = (
        'auth_url', 'username', 'password', 'user_domain_name', 'project_name',
        'project_domain_name',
    )  # fmt: skip
    values = {
        'auth': {name: variables[f'OS_{name.upper()}'] for name in keys},
        'region_name': variables['OS_REGION_NAME'],
        'identity_api_version': 3,
    }
    return (
        json.dumps({'clouds': dict.fromkeys(names, values)}, indent=2) + '\n'
    )
