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

"""What validations found out about tokens, used again while it is true.

``GET`` and ``HEAD`` of ``/v3/auth/tokens`` are nearly all of what Keystone is
asked, by many services about the same tokens. What one of them has found out
about a token is a record, which tells whoever asks: it is used while all that
it was made of can be shown to be unchanged, and made anew otherwise.
"""
