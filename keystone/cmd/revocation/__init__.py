# SPDX-License-Identifier: Apache-2.0

"""Commands of ``keystone-manage`` for the table of revocation events."""

from keystone.cmd.revocation import prune
from keystone.cmd.revocation import status

COMMANDS = (prune.RevocationPrune, status.RevocationStatus)
