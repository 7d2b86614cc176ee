# SPDX-License-Identifier: Apache-2.0

"""``keystone-manage`` commands and status checks for Fernet keys."""

from keystone.cmd.fernet_keys import status

COMMANDS = (status.FernetStatus,)
CHECKS = (('Fernet keys', status.check),)
