# SPDX-License-Identifier: Apache-2.0

"""What a check has found, as one result."""

from oslo_upgradecheck import upgradecheck

FAILURE = upgradecheck.Code.FAILURE
WARNING = upgradecheck.Code.WARNING


def result(findings, fine):
    """Make the result of a check.

    :param findings: iterable of (:class:`upgradecheck.Code`, sentence)
    :param fine: sentence for when there are none
    :returns: a :class:`upgradecheck.Result` with the worst of the codes
    """
    found = list(findings)
    if not found:
        return upgradecheck.Result(upgradecheck.Code.SUCCESS, fine)
    return upgradecheck.Result(
        max(code for code, _ in found), ' '.join(text for _, text in found)
    )
