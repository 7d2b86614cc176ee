# SPDX-License-Identifier: Apache-2.0

"""``keystone-manage`` commands for Fernet keys."""

from keystone.cmd.fernet_keys import status

COMMANDS = (status.FernetStatus,)
