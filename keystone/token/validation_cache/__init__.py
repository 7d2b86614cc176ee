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

"""Rendered answers to validations, given again while they are true.

``GET`` and ``HEAD`` of ``/v3/auth/tokens`` are nearly all of what Keystone is
asked, and nearly always about a token that this process has just shown to the
same caller. The answer is kept with all that it rested on; it is given again
when each of those things can be shown to be unchanged, and in any other case
the request goes its usual way.
"""
