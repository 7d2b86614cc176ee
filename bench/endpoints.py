# SPDX-License-Identifier: Apache-2.0

"""Catalogs that are written directly into the tables, and projects."""

from bench import client

_PER_SERVICE = 15  # endpoints: three interfaces in each of five regions


def fill(side, count):
    """Replace the catalog by one with ``count`` endpoints.

    Every third URL has the id of the project in it. The cache is emptied.
    """
    last = -(-count // _PER_SERVICE)
    side.query(
        'DELETE FROM endpoint; DELETE FROM service; '
        'INSERT IGNORE INTO region (id, description, extra) '
        "SELECT CONCAT('region-', seq), '', '{}' FROM seq_0_to_4; "
        'INSERT INTO service (id, type, enabled, extra) '
        "SELECT MD5(CONCAT('service', seq)), CONCAT('type-', seq), 1, "
        """CONCAT('{"name": "service-', seq, '"}') """
        f'FROM seq_1_to_{last}; '
        'INSERT INTO endpoint (id, interface, region_id, service_id, url, '
        "enabled, extra) SELECT MD5(CONCAT('endpoint', seq)), "
        "ELT(1 + seq MOD 3, 'public', 'internal', 'admin'), "
        "CONCAT('region-', seq DIV 3 MOD 5), "
        f"MD5(CONCAT('service', 1 + (seq - 1) DIV {_PER_SERVICE})), "
        "CONCAT('https://service-', seq, '.region.cloud.example.com:8774/v3', "
        "IF(seq DIV 3 MOD 3 = 0, '/%(project_id)s', '')), 1, '{}' "
        f'FROM seq_1_to_{count}'
    )
    side.forget()


def projects(side, count):
    """Make projects in which the admin has the role that it has in its own.

    :returns: list of their ids
    """
    keystone = side.keystone
    caller = client.token(keystone)
    admin = client.about(keystone, caller)
    found = []
    for _ in range(count):
        project = client.create_project(keystone, caller)['id']
        grant = f'users/{admin["user"]["id"]}/roles/{admin["roles"][0]["id"]}'
        client.put(keystone, caller, f'/projects/{project}/{grant}')
        found.append(project)
    return found
