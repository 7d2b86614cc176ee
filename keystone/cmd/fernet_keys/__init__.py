# SPDX-License-Identifier: Apache-2.0

"""Commands of ``keystone-manage`` that tell of Fernet keys."""

from keystone.cmd.fernet_keys import status

COMMANDS = (status.FernetStatus,)
CHECKS = (('Fernet keys', status.check),)
