# SPDX-License-Identifier: Apache-2.0

"""Catalogs and projects that are written directly into the tables."""

_PER_SERVICE = 15  # endpoints: three interfaces in each of five regions


def fill(side, count):
    """Replace the catalog by one with ``count`` endpoints.

    Every third URL has the id of the project in it.
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


def projects(side, count):
    """Make projects in which the admin has the role that it has in its own.

    :returns: list of their ids
    """
    side.query(
        'INSERT IGNORE INTO project '
        '(id, name, domain_id, parent_id, enabled, is_domain, extra) '
        "SELECT MD5(CONCAT('project', seq)), CONCAT('project-', seq), "
        "domain_id, domain_id, 1, 0, '{}' "
        f'FROM seq_1_to_{count}, project '
        "WHERE name = 'admin' AND is_domain = 0; "
        'INSERT IGNORE INTO assignment '
        '(type, actor_id, target_id, role_id, inherited) '
        "SELECT type, actor_id, MD5(CONCAT('project', seq)), role_id, 0 "
        f'FROM seq_1_to_{count}, assignment '
        "WHERE type = 'UserProject' AND target_id = "
        "(SELECT id FROM project WHERE name = 'admin' AND is_domain = 0)"
    )
    rows = side.query("SELECT id FROM project WHERE name LIKE 'project-%'")
    return [project_id for (project_id,) in rows]
