# SPDX-License-Identifier: Apache-2.0

"""A private OpenLDAP server."""

import pathlib
import secrets

from patchset import child
from patchset.services import server

SUFFIX = 'dc=example,dc=org'
ADMINISTRATOR = f'cn=admin,{SUFFIX}'  # has all permissions
_CONFIGURATION = pathlib.Path(__file__).with_suffix('.conf')


def subtree(name):
    """Distinguished name of an organizational unit right below the suffix."""
    return f'ou={name},{SUFFIX}'


class Slapd(server.Server):
    """An OpenLDAP server that only contains the suffix."""

    name = 'slapd'
    users = ('openldap', 'nobody')

    def __init__(self, folder=None):
        super().__init__(folder)
        self.password = secrets.token_hex(16)  # of the administrator

    @property
    def url(self):
        """The address as ``ldap://HOST:PORT``."""
        return f'ldap://{self.address}'

    def change(self, text):
        """Apply the changes of an LDIF text, in order.

        :raises patchset.errors.Error: one was rejected: the server's message
        """
        self._output(self._run_tool('ldapmodify', '-a', text=text))

    def _start(self):
        super()._start()
        self.change(
            f'dn: {SUFFIX}\nobjectClass: dcObject\n'
            f'objectClass: organization\no: example'
        )

    def reset(self, name):
        """Create an empty organizational unit; replaces an existing one."""
        self._run_tool('ldapdelete', '-r', subtree(name))  # if it exists
        self.change(f'dn: {subtree(name)}\nobjectClass: organizationalUnit')

    def _run_tool(self, program, *words, text=''):
        return child.finish(
            [
                child.find(program), '-x', '-H', self.url,
                '-D', ADMINISTRATOR, '-w', self.password, *words,
            ],
            stdin=text,
        )  # fmt: skip

    def _prepare(self):
        self._write(
            'slapd.conf',
            _CONFIGURATION.read_text().format(
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

    def _is_ready(self):
        # Another server would have a different password.
        return self._run_tool('ldapwhoami').returncode == 0
