# SPDX-License-Identifier: Apache-2.0

"""Runs the commands, with one node."""

import contextlib
import io
import json
import os
import re

import freezegun
from oslo_db import options as db_options

from keystone.cmd import cli
import keystone.conf
from keystone.tests.unit.fernet_keys import base
from keystone.tests.unit.ksfixtures import database

CONF = keystone.conf.CONF


class CommandTestCase(base.KeysTestCase):
    def setUp(self):
        super().setUp()
        # The database is in memory, and the clock jumps.
        db_options.set_defaults(CONF)
        self.config_fixture.config(
            group='database', connection_recycle_time=-1
        )
        self.useFixture(database.Database())
        freezer = freezegun.freeze_time('2032-01-01 10:00:00')
        self.clock = freezer.start()
        self.addCleanup(freezer.stop)
        for group in ('fernet_tokens', 'fernet_receipts', 'credential'):
            self.config_fixture.config(
                group=group, key_repository=self.of(group)
            )
        self.config_fixture.config(group='fernet_tokens', expected_nodes=1)
        self.config_fixture.config(
            group='token', expiration=3600, allow_expired_window=7200
        )
        self.config_fixture.config(group='revoke', longest_token_lifetime=3600)
        self.manage('fernet_setup')
        self.manage('credential_setup')
        self.manage('fernet_status')

    def config_files(self):
        self.config_fixture.register_cli_opt(cli.command_opt)
        return super().config_files()

    def config(self, config_files):
        CONF(
            args=['fernet_status'],
            project='keystone',
            default_config_files=config_files,
        )

    def of(self, group):
        return os.path.join(self.folder, group)

    def keys(self, group='fernet_tokens'):
        return sorted(n for n in os.listdir(self.of(group)) if n.isdigit())

    def manage(self, *words):
        """Run ``keystone-manage``.

        :returns: exit code, and what it printed
        """
        words = list(words)
        if re.search('rotate|setup', words[0]) and os.geteuid() == 0:
            words += ['--keystone-user', 'root', '--keystone-group', 'root']
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                CONF(words, project='keystone', default_config_files=[])
                CONF.command.cmd_class.main()
                code = 0
            except SystemExit as end:
                code = end.code
        return code, out.getvalue()

    def status(self, section='fernet_tokens'):
        _code, out = self.manage('fernet_status', '--format', 'json')
        (found,) = [
            one
            for one in json.loads(out)['repositories']
            if one['section'] == section
        ]
        return found

    def rotate(self, *words):
        return self.manage('fernet_rotate', *words)
