# SPDX-License-Identifier: Apache-2.0

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
    return keystone_conf.render(keystone_conf.merge(options, settings))
