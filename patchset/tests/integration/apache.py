# SPDX-License-Identifier: Apache-2.0

"""Keystone under a private Apache with mod_wsgi, for tests."""

import http.client

from patchset import child
from patchset import client
from patchset import wsgi
from patchset.services import server

MODULES = '/usr/lib/apache2/modules'

_CONFIGURATION = """\
ServerRoot {folder}
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {folder}/pid
DefaultRuntimeDir {folder}
ErrorLog {folder}/log
LimitRequestFieldSize {headers}
LimitRequestLine {headers}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule wsgi_module {modules}/mod_wsgi.so
WSGISocketPrefix {folder}/wsgi
WSGIDaemonProcess keystone processes={processes} threads={threads} \
home={folder} python-home={home} python-path={tree}
WSGIScriptAlias / {application} \
process-group=keystone application-group=%{{GLOBAL}}
WSGIPassAuthorization On
<Location />
    Require all granted
</Location>
"""


class Apache(server.Server):
    """An Apache whose mod_wsgi serves a Keystone that was prepared.

    Its user has to be able to read the tree and the environment, and to
    read and write the Keystone's files. The Python of the environment has
    to be the distribution's, which mod_wsgi is linked with.

    :param keystone: a :class:`patchset.deployment.Deployment` that is
        prepared and not started
    """

    name = 'apache2'
    users = ('www-data', 'nobody')
    start_timeout = 300  # at the first start, all of Keystone is compiled

    def __init__(self, keystone):
        super().__init__()
        self._keystone = keystone

    def _prepare(self):
        # It opens its log by itself.
        self._write(self.log.name, '')

    def _command(self):
        keystone = self._keystone
        configuration = _CONFIGURATION.format(
            folder=self.folder,
            port=self.port,
            modules=MODULES,
            headers=wsgi.HEADERS,
            processes=keystone.processes,
            threads=keystone.threads,
            home=keystone.environment.path,
            tree=keystone.tree,
            application=keystone.tree / 'keystone' / 'wsgi' / 'api.py',
        )
        return [
            child.find('apache2'), '-DFOREGROUND',
            '-f', self._write('apache2.conf', configuration),
        ]  # fmt: skip

    def _variables(self):
        keystone = self._keystone
        return {
            **wsgi.variables(keystone.environment, keystone.tree),
            'OS_KEYSTONE_CONFIG_FILES': keystone.state.path / 'keystone.conf',
            # Those of other users cannot be read.
            'PYTHONPYCACHEPREFIX': keystone.state.path / 'pycache',
        }

    def _is_ready(self):
        answer = client.Client(self.port).ask('GET', '')
        return answer.status == http.client.OK
