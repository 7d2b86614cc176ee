# SPDX-License-Identifier: Apache-2.0

"""Errors that a user can act on."""


class Error(Exception):
    """Something the user can mend; printed as one line, without a trace."""


class NotInstalled(Error):
    """A program or a system package is missing (exit 3)."""


class UsageError(Error):
    """The command line asks for something that makes no sense (exit 2)."""
