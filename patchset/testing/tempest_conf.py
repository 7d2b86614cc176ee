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

"""Configuration of tempest for one Keystone and nothing else."""

from patchset import keystone_conf

PATIENCE = 300  # seconds; far more than a loaded machine needs


def render(deployment, folder, settings=None):
    """Text of tempest.conf.

    :param deployment: a started :class:`patchset.deployment.Deployment`
    :param folder: where tempest may keep its lock files and its log
    :param settings: {section: {option: value}} on top of that
    """
    admin = deployment.credentials
    options = {
        'auth': {
            'use_dynamic_credentials': True,
            'create_isolated_networks': False,
            'admin_username': admin['OS_USERNAME'],
            'admin_password': admin['OS_PASSWORD'],
            'admin_domain_name': admin['OS_USER_DOMAIN_NAME'],
            'admin_project_name': admin['OS_PROJECT_NAME'],
        },
        'identity': {
            'uri_v3': deployment.url,
            'region': admin['OS_REGION_NAME'],
            'v3_endpoint_type': 'public',
        },
        'enforce_scope': {'keystone': True},
        'service-clients': {'http_timeout': PATIENCE},
        'service_available': dict.fromkeys(
            ('cinder', 'glance', 'horizon', 'neutron', 'nova', 'swift'), False
        ),
        'oslo_concurrency': {'lock_path': folder},
        'DEFAULT': {'log_dir': folder, 'log_file': 'tempest.log'},
    }
    lines = []
    for section, pairs in keystone_conf.merge(options, settings).items():
        lines.append(f'[{section}]')
        lines += [f'{name} = {value}' for name, value in pairs.items()]
    return '\n'.join(lines) + '\n'
