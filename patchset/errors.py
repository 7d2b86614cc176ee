# SPDX-License-Identifier: Apache-2.0

"""Errors that a user can act on."""


class Error(Exception):
    """An error the user can fix; printed as one line without a traceback."""


class NotInstalled(Error):
    """A program or a system package is missing (exit 3)."""


class UsageError(Error):
    """The command line is invalid (exit 2)."""
