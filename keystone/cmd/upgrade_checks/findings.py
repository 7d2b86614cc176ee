# SPDX-License-Identifier: Apache-2.0

"""Combination of the findings of a check into one result."""

import functools

from oslo_upgradecheck import upgradecheck

FAILURE = upgradecheck.Code.FAILURE
WARNING = upgradecheck.Code.WARNING
SUCCESS = upgradecheck.Code.SUCCESS


def check(fine):
    """Decorate a function that yields findings, to make a check of it.

    A finding is a :class:`upgradecheck.Code` and a sentence. The result has
    the worst of the codes.

    :param fine: sentence to use if there are no findings
    """

    def decorate(find):
        @functools.wraps(find)
        def checked(_commands):
            found = list(find()) or [(SUCCESS, fine)]
            return upgradecheck.Result(
                max(code for code, _ in found),
                ' '.join(text for _, text in found),
            )

        return checked

    return decorate
