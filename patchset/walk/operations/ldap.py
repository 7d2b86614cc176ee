# SPDX-License-Identifier: Apache-2.0

"""A domain whose users and groups are in an LDAP directory.

Keystone does not notice changes in the directory, and cached users and groups
remain valid after the configuration of their domain is removed, until they
expire. The caches are flushed instead of waiting for that.
"""

import re

from patchset import errors
from patchset.client import Answer
from patchset.services import slapd
from patchset.walk import names
from patchset.walk import steps
from patchset.walk.operations.identity import FIRST_PASSWORD

DOMAIN = names.LDAP_DOMAIN
USERS = [name for name, of in names.USERS.items() if of == DOMAIN]
GROUPS = [name for name, of in names.GROUPS.items() if of == DOMAIN]
# The code of an error of the directory: an attribute is missing, a value
# exists, an entry is missing, or one exists.
_NOT_APPLICABLE = re.compile(r'\((16|20|32|68)\)')


@steps.operation('LDAP', 3)
def configure_ldap(side):
    """Configure the directory as the source of the domain's users."""
    tree = slapd.subtree(side.name)
    ldap = {
        'url': side.testbed.directory.url,
        'suffix': slapd.SUFFIX,
        'user_tree_dn': tree,
        'user_objectclass': 'inetOrgPerson',
        'user_id_attribute': 'uid',
        'user_name_attribute': 'sn',
        'user_enabled_attribute': 'employeeType',
        'user_enabled_default': 'TRUE',
        'user_description_attribute': 'title',
        'group_tree_dn': tree,
        'group_objectclass': 'groupOfNames',
        'group_id_attribute': 'cn',
        'group_name_attribute': 'description',
    }
    config = {'identity': {'driver': 'ldap'}, 'ldap': ldap}
    path = f'/domains/{side.id(DOMAIN)}/config'
    answer = side.request('PUT', path, {'config': config})
    side.flush_cache()
    return Answer(answer.status)  # the body names the subtree


@steps.operation('LDAP', 1)
def remove_ldap_configuration(side):
    answer = side.request('DELETE', f'/domains/{side.id(DOMAIN)}/config')
    side.flush_cache()
    return answer


@steps.operation('LDAP', 4, user=USERS)
def add_ldap_user(side, user):
    _add(
        side, user, 'objectClass: inetOrgPerson', f'cn: {user}',
        f'sn: {user}', f'userPassword: {FIRST_PASSWORD}',
    )  # fmt: skip
    side.details[user] = FIRST_PASSWORD
    return _find(side, 'user', user)


@steps.operation('LDAP', 1, user=USERS)
def remove_ldap_user(side, user):
    _change(side, user, 'changetype: delete')


@steps.operation('LDAP', 2, user=USERS)
def rename_ldap_user(side, user, number):
    _replace(side, user, 'sn', f'{user}-{number}')


@steps.operation('LDAP', 2, user=USERS)
def disable_ldap_user(side, user):
    _replace(side, user, 'employeeType', 'FALSE')


@steps.operation('LDAP', 4, user=USERS)
def enable_ldap_user(side, user):
    _replace(side, user, 'employeeType', 'TRUE')
    # A validation may have noticed that the user was disabled, and revoked
    # all tokens.
    side.record_write()


@steps.operation('LDAP', user=USERS)
def set_ldap_password(side, user, number):
    password = f'password-{number}'
    _replace(side, user, 'userPassword', password)
    side.details[user] = password


@steps.operation('LDAP', 3, group=GROUPS)
def add_ldap_group(side, group):
    _add(
        side, group, 'objectClass: groupOfNames', f'description: {group}',
        f'member: {slapd.ADMINISTRATOR}',  # it must have one
    )  # fmt: skip
    return _find(side, 'group', group)


@steps.operation('LDAP', 1, group=GROUPS)
def remove_ldap_group(side, group):
    _change(side, group, 'changetype: delete')


@steps.operation('LDAP', 6, group=GROUPS, user=USERS)
def add_ldap_member(side, group, user):
    _change_member(side, 'add', group, user)


@steps.operation('LDAP', 4, group=GROUPS, user=USERS)
def remove_ldap_member(side, group, user):
    _change_member(side, 'delete', group, user)


def _find(side, kind, name):
    """Request an entry from Keystone, and record its id."""
    domain = side.id(DOMAIN)
    answer = side.request('GET', f'/{kind}s?name={name}&domain_id={domain}')
    found = answer.body.get(f'{kind}s') if answer.status == 200 else None
    if found:
        side.add(name, found[0]['id'])
    return answer


def _name(side, entry):
    attribute = 'uid' if entry in USERS else 'cn'
    return f'{attribute}={entry},{slapd.subtree(side.name)}'


def _add(side, entry, *lines):
    side.id(DOMAIN)
    _change(side, entry, *lines)


def _replace(side, entry, attribute, value):
    _change(
        side, entry, 'changetype: modify', f'replace: {attribute}',
        f'{attribute}: {value}',
    )  # fmt: skip


def _change_member(side, change, group, user):
    _change(
        side, group, 'changetype: modify', f'{change}: member',
        f'member: {_name(side, user)}',
    )  # fmt: skip


def _change(side, entry, *lines):
    """Change the directory, and flush the caches of Keystone."""
    name = _name(side, entry)
    try:
        side.testbed.directory.change('\n'.join((f'dn: {name}', *lines)))
    except errors.Error as error:
        if _NOT_APPLICABLE.search(str(error)):
            raise steps.NotApplicable(entry)
        raise
    side.flush_cache()
