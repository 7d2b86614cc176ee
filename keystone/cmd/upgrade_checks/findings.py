# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
