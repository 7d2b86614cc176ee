# SPDX-License-Identifier: Apache-2.0

"""A private OpenLDAP server."""

import secrets
import subprocess

from patchset import child
from patchset import errors
from patchset.services import server

SUFFIX = 'dc=example,dc=org'
ADMINISTRATOR = f'cn=admin,{SUFFIX}'  # may change everything

_CONFIGURATION = """\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
database mdb
suffix {suffix}
rootdn {administrator}
rootpw {password}
directory .
dbnosync
"""


def subtree(name):
    """Distinguished name of an organizational unit right below the suffix."""
    return f'ou={name},{SUFFIX}'


class Slapd(server.Server):
    """An OpenLDAP server with nothing but the suffix.

    :param folder: where to make the server's temporary folder
    """

    name = 'slapd'
    users = ('openldap', 'nobody')

    def __init__(self, folder=None):
        super().__init__(folder)
        self.password = secrets.token_hex(16)  # of the administrator

    @property
    def url(self):
        """The address as ``ldap://HOST:PORT``."""
        return f'ldap://127.0.0.1:{self.port}'

    def change(self, text):
        """Carry out the changes of an LDIF text, in order.

        :raises patchset.errors.Error: one is refused: the server's message
        """
        done = self._ask('ldapmodify', '-a', text=text)
        if done.returncode:
            raise errors.Error(f'slapd: {done.stderr.strip()}')

    def start(self):
        """Start the server and add the entry of the suffix."""
        super().start()
        self.change(
            f'dn: {SUFFIX}\nobjectClass: dcObject\n'
            f'objectClass: organization\no: example'
        )

    def reset(self, name):
        """Have an empty organizational unit of that name."""
        self._ask('ldapdelete', '-r', subtree(name))  # if there is one
        self.change(f'dn: {subtree(name)}\nobjectClass: organizationalUnit')

    def _ask(self, program, *words, text=''):
        return subprocess.run(
            [
                child.find(program), '-x', '-H', self.url,
                '-D', ADMINISTRATOR, '-w', self.password, *words,
            ],
            input=text,
            capture_output=True,
            text=True,
        )  # fmt: skip

    def _prepare(self):
        self._write(
            'slapd.conf',
            _CONFIGURATION.format(
                suffix=SUFFIX,
                administrator=ADMINISTRATOR,
                password=self.password,
            ),
        )

    def _command(self):
        return [
            child.find('slapd'), '-h', f'{self.url}/', '-f', 'slapd.conf',
            '-d', '0',
        ]  # fmt: skip

    def _answers(self):
        # Another server does not have this one's password.
        return self._ask('ldapwhoami').returncode == 0
