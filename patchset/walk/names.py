# SPDX-License-Identifier: Apache-2.0

"""Names of the resources, which are few so that the steps interact."""

DEFAULT = 'default'  # the domain that always exists
LDAP_DOMAIN = 'd3'  # its users and groups are in a directory

# {name: name of the domain}
USERS = {
    'u1': 'd1', 'u2': 'd1', 'u3': 'd2', 'u4': DEFAULT, 'u5': DEFAULT,
    'l1': LDAP_DOMAIN, 'l2': LDAP_DOMAIN,
}  # fmt: skip
GROUPS = {'g1': 'd1', 'g2': 'd2', 'g3': DEFAULT, 'lg1': LDAP_DOMAIN}
# {name: (name of the domain, name of the parent or None)}
PROJECTS = {
    'p1': ('d1', None), 'p2': ('d1', 'p1'), 'p3': ('d2', None),
    'p4': (DEFAULT, None),
}  # fmt: skip
DOMAINS = ('d1', 'd2', LDAP_DOMAIN)
ROLES = ('r1', 'r2', 'r3')
# Roles created by Keystone itself.
BUILT_IN = ('admin', 'manager', 'member', 'reader', 'service')
TRUSTS = ('trust1', 'trust2', 'trust3')
CREDENTIALS = ('credential1', 'credential2', 'credential3')
KEYS = ('key1', 'key2')
CONSUMERS = ('consumer1', 'consumer2')
ACCESS_TOKENS = ('access1', 'access2')
RECEIPTS = ('receipt1', 'receipt2')
SERVICES = ('s1', 's2')
ENDPOINTS = {'e1': 's1', 'e2': 's1', 'e3': 's2'}  # {name: its service}
ENDPOINT_GROUPS = ('eg1', 'eg2')
INTERFACES = ('public', 'internal', 'admin')
PROVIDERS = ('idp1', 'idp2')
# Tokens that validate others; with SELF, a token validates itself.
ADMIN, SERVICE, READER, SELF = 'by-admin', 'by-service', 'by-reader', 'self'
CALLERS = (ADMIN, ADMIN, SELF, SERVICE, SERVICE, READER)

SCOPES = (
    *(f'project:{name}' for name in PROJECTS),
    *(f'domain:{name}' for name in (*DOMAINS, DEFAULT)),
    'system',
)
