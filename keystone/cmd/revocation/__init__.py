# SPDX-License-Identifier: Apache-2.0

"""``keystone-manage`` commands for revocation events."""

from keystone.cmd.revocation import prune
from keystone.cmd.revocation import status

COMMANDS = (prune.RevocationPrune, status.RevocationStatus)
