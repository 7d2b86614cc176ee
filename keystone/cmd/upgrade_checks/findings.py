# SPDX-License-Identifier: Apache-2.0

"""Combination of the findings of a check into one result."""

from oslo_upgradecheck import upgradecheck

FAILURE = upgradecheck.Code.FAILURE
WARNING = upgradecheck.Code.WARNING


def result(findings, fine):
    """Make the result of a check.

    :param findings: iterable of (:class:`upgradecheck.Code`, sentence)
    :param fine: sentence to use if there are no findings
    :returns: a :class:`upgradecheck.Result` with the worst of the codes
    """
    found = list(findings)
    if not found:
        return upgradecheck.Result(upgradecheck.Code.SUCCESS, fine)
    return upgradecheck.Result(
        max(code for code, _ in found), ' '.join(text for _, text in found)
    )
